// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build cgo

package main

// unsigned long c_outer(int depth);
import "C"
import "strings"

var text string

//export goCallback
func goCallback(depth C.int) C.ulong {
	text = strings.Repeat("x", 1000+int(depth))
	if depth > 0 {
		return callC(depth - 1)
	}
	return C.ulong(len(text))
}

//go:noinline
func callC(depth C.int) C.ulong { return C.c_outer(depth) + 1 }

func callThroughC(depth int) int { return int(callC(C.int(depth))) }
