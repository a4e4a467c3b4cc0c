// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Changes between stacks in every way that Go has: the collector works for the goroutine, stacks grow, goroutines are
// suspended, and C code calls back.
package main

// unsigned long c_outer(int depth);
import "C"
import (
	"fmt"
	"os"
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

const workFor = 3 * time.Second

// CPU time of all threads: others may have the CPUs meanwhile.
func used() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	way := os.Args[1]
	var isOver int32
	done := make(chan int)
	for id := 1; id <= 4; id++ {
		go func(id int) {
			total := 0
			for atomic.LoadInt32(&isOver) == 0 {
				if way == "collect" {
					total += collect(id)
				} else {
					total += int(callC(2))
				}
			}
			done <- total
		}(id)
	}
	for used() < workFor {
		time.Sleep(10 * time.Millisecond)
	}
	atomic.StoreInt32(&isOver, 1)
	for id := 1; id <= 4; id++ {
		<-done
	}
}
