/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process of the recorder that finds the variable in which the threads of other processes
 * publish their trace and span (abi/thread_context.h). The child visits each process that BPF
 * programs have added to the map of places. A visit reads the process's mappings, the symbols of
 * its files (by a sandbox), and the words in which the dynamic linker has stored the place of the
 * variable. Visits are repeated, since a process may load a library later. A visit that does not
 * end is given up after some seconds, and its process is not visited again.
 *
 * The child also copies the process context of each process (OpenTelemetry, OTEP 4719), unchecked,
 * and sends it to the recorder.
 */
#ifndef LIB_SYMBOL_CONTEXT_FINDER_H
#define LIB_SYMBOL_CONTEXT_FINDER_H

struct context_finder;
struct process_contexts;

/* Starts the child. `map`: the BPF map of struct context_place by process id. Best called early:
 * see sandbox_start(). 0 or -errno. */
int context_finder_start(int map, struct context_finder **out);
/* Receives the process contexts that the child has copied since the last call. */
void context_finder_collect(struct context_finder *finder);
/* Returns the process contexts that were received. They belong to the finder. */
struct process_contexts *context_finder_contexts(struct context_finder *finder);
/* Kills the child, and does not wait until it has ended. */
void context_finder_end(struct context_finder **finder);

#endif
