/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Perf events, and what became of them. The kernel skips the program of a perf event, uncounted,
 * while another BPF program (or an update of a map) is active on that CPU. Where each event is one
 * sample, the event's own count tells how often; of samples at a rate nobody knows.
 */
#ifndef LIB_CAPTURE_ATTACH_PERF_H
#define LIB_CAPTURE_ATTACH_PERF_H

#include "capture/load/attach.h"

/* Opens and enables the event of a source, on the command or on every CPU. 0 or -errno. */
int attach_perf(struct attachment *attachment, const struct source *source, u32 kind,
		int program_fd);

/* The same on one CPU, if it is wanted. -ENODEV: it is offline. */
int attach_perf_cpu(struct attachment *attachment, const struct source *source, u32 kind,
		    int program_fd, u32 cpu);

/* Those of a rate go on at this one, in Hz; so do those of CPUs that come online. 0 or -errno. */
int attach_perf_set_frequency(struct attachment *attachment, u64 frequency);

/* Stops the events and keeps their counts; before their links are closed. */
void attach_perf_stop(struct attachment *attachment);

/* Events whose program was skipped; after all programs have ended. Of an instance that another
 * process started: up to the last run on each CPU. */
u64 attach_perf_skipped(const struct attachment *attachment);

#endif
