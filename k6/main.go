// Command k6 is k6 with the extension k6/x/push, which plays clients of servers that push.
package main

import (
	"go.k6.io/k6/v2/cmd"

	_ "github.com/pushbench/pushbench/k6/push"
)

func main() {
	cmd.Execute()
}
