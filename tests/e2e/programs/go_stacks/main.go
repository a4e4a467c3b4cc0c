// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Changes between stacks in every way that Go has: the collector works for the goroutine, stacks grow, goroutines are
// suspended, and C code calls back (with_c.go).
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type node struct {
	left, right *node
	key         int
	text        string
}

func build(depth, key int) *node {
	if depth == 0 {
		return &node{key: key, text: fmt.Sprint(key)}
	}
	return &node{build(depth-1, 2*key), build(depth-1, 2*key+1), key, strings.Repeat("x", key%17)}
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.key + len(n.text) + n.left.sum() + n.right.sum()
}

func deep(n int) int {
	var room [512]byte
	room[n%512] = byte(n)
	if n == 0 {
		return int(room[1])
	}
	return deep(n-1) + int(room[2])
}

func collect(id int) int {
	total := build(11, id).sum()
	done := make(chan int)
	go func() { done <- deep(200) }()
	total += <-done
	keys := make([]string, 0)
	for i := 0; i < 500; i++ {
		keys = append(keys, fmt.Sprintf("k%d", i*id))
	}
	sort.Strings(keys)
	return total
}

// Small enough to be inlined.
func mix(x uint32) uint32 { return x*1664525 + 1013904223 }

//go:noinline
func burn(x uint32) uint32 {
	for i := 0; i < 100000; i++ {
		x = mix(x)
	}
	return x
}

// The goroutine's stack is described on the scheduler's stack.
//
//go:noinline
func describe(times int) int {
	var room [8192]byte
	total := 0
	for i := 0; i < times; i++ {
		total += runtime.Stack(room[:], false)
	}
	return total
}

const (
	workFor  = 2 * time.Second
	eachFor  = 300 * time.Millisecond
	ofThread = 1 // RUSAGE_THREAD
)

// CPU time: others may have the CPUs meanwhile.
func used(who int) time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(who, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPU time of a function in a goroutine of its own, whose stack is small at first.
func usedBy(do func()) time.Duration {
	done := make(chan time.Duration)
	go func() {
		runtime.LockOSThread()
		begin := used(ofThread)
		do()
		took := used(ofThread) - begin
		runtime.UnlockOSThread()
		done <- took
	}()
	return <-done
}

var sink uint32

// Each function that a stack must show has CPU time of its own, however the rest of the time is spent.
func workInEach() {
	each := []func(){
		func() { sink += burn(sink) },
		func() { sink += uint32(describe(100)) },
		func() { sink += uint32(build(11, 1).sum()) },
		func() { sink += uint32(deep(200)) }, // most of it is growth of the stack
	}
	for _, do := range each {
		for took := time.Duration(0); took < eachFor; {
			took += usedBy(do)
		}
	}
}

func main() {
	way := os.Args[1]
	runtime.GOMAXPROCS(2) // many idle CPUs would spend most of the time with looking for work
	var isOver int32
	done := make(chan int)
	for id := 1; id <= 4; id++ {
		go func(id int) {
			total := 0
			for atomic.LoadInt32(&isOver) == 0 {
				if way == "collect" {
					total += collect(id)
				} else {
					total += callThroughC(2)
				}
			}
			done <- total
		}(id)
	}
	for used(syscall.RUSAGE_SELF) < workFor {
		time.Sleep(10 * time.Millisecond)
	}
	atomic.StoreInt32(&isOver, 1)
	for id := 1; id <= 4; id++ {
		<-done
	}
	if way == "collect" {
		workInEach()
	}
}
