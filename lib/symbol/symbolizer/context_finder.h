/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process beside the recorder that finds where the threads of other processes publish their trace
 * and span (abi/thread_context.h). It looks at each process that programs have entered into the map
 * of places: at its mappings, at the variable in its files, which a sandbox reads, and at the words
 * in which the dynamic linker has left where the variable is. It looks again, since a process may
 * load a library later.
 */
#ifndef LIB_SYMBOL_CONTEXT_FINDER_H
#define LIB_SYMBOL_CONTEXT_FINDER_H

struct context_finder;

/* `map`: of struct context_place, by process. Best called early: see sandbox_start(). 0 or -errno.
 */
int context_finder_start(int map, struct context_finder **out);
/* Never waits. */
void context_finder_end(struct context_finder **finder);

#endif
