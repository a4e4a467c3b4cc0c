// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build !cgo

package main

func callThroughC(int) int { panic("built without C code") }
