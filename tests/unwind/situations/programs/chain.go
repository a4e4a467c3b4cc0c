// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// main.main -> outer -> middle -> leaf: Go gives leaf no frame.
package main

import (
	"os"
	"strconv"
	"time"
)

var sink int

//go:noinline
func leaf(n int) int {
	x := 0
	for i := 0; i < n; i++ {
		x = x*3 + i ^ n
	}
	return x
}

//go:noinline
func middle(n int) { sink += leaf(n); sink++ }

//go:noinline
func outer(n int) { middle(n); sink++ }

func main() {
	milliseconds, _ := strconv.Atoi(os.Args[1])
	for t := time.Now(); time.Since(t) < time.Duration(milliseconds)*time.Millisecond; {
		outer(100000)
	}
}
