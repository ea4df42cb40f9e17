// Package parallel runs many tests at the same time if they mostly wait.
package parallel

import "flag"

// Tests sets how many parallel tests run at the same time, unless -parallel is given. TestMain calls it. Go's default
// is the number of CPUs, which suits tests that compute.
func Tests(tests string) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", tests)
	}
}
