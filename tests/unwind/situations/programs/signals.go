// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// main.main -> outer -> leaf, and between any two instructions Go's handler of a signal, on a stack of its own.
package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

var sink int

//go:noinline
func leaf(n int) {
	for i := 0; i < n; i++ {
		sink = sink*3 + i
	}
}

//go:noinline
func outer(n int) { leaf(n); sink++ }

func main() {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGALRM)
	often := [2]syscall.Timeval{{Usec: 200}, {Usec: 200}}
	syscall.Syscall(syscall.SYS_SETITIMER, 0, uintptr(unsafe.Pointer(&often)), 0)
	milliseconds, _ := strconv.Atoi(os.Args[1])
	for t := time.Now(); time.Since(t) < time.Duration(milliseconds)*time.Millisecond; {
		outer(100000)
	}
}
