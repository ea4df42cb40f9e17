// Package parallel lets tests that mostly wait run many at a time.
package parallel

import "flag"

// Tests sets how many parallel tests run at a time, unless -parallel says it. It is called by TestMain. Go's own
// number is that of the CPUs, which is for tests that work.
func Tests(tests string) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", tests)
	}
}
