// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// main.main -> outer -> (cgo) -> c_outer -> c_inner: C code runs on the thread's own stack.
package main

/*
static volatile unsigned long sink;
__attribute__((noinline)) static void c_inner(void) { for (int i = 0; i < 300000; i++) sink += i * sink; }
__attribute__((noinline)) static void c_outer(void) { c_inner(); sink++; }
*/
import "C"
import (
	"os"
	"strconv"
	"time"
)

//go:noinline
func outer() { C.c_outer() }

func main() {
	milliseconds, _ := strconv.Atoi(os.Args[1])
	for t := time.Now(); time.Since(t) < time.Duration(milliseconds)*time.Millisecond; {
		outer()
	}
}
