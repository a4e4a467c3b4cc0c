// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// An ordinary Go program, MS of it: JSON, strings, sorting, the garbage collector.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type record struct {
	Name string
	Tags []string
	N    int
}

func main() {
	milliseconds, _ := strconv.Atoi(os.Args[1])
	for t := time.Now(); time.Since(t) < time.Duration(milliseconds)*time.Millisecond; {
		var records, back []record
		for i := 0; i < 300; i++ {
			records = append(records, record{fmt.Sprintf("item%d", i*7919%300), strings.Split("a,b,c,d", ","), i})
		}
		text, _ := json.Marshal(records)
		json.Unmarshal(text, &back)
		sort.Slice(back, func(i, j int) bool { return back[i].Name < back[j].Name })
	}
}
