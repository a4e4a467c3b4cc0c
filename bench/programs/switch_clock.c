/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switch_clock FILE: until standard input ends, adds up the running time of each thread by two
 * clocks, and writes a line for each: its id, ns by the kernel's clock, ns as read at the
 * tracepoints, and turns. "ready" on standard output: it has begun.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

#include "switch_clock.h"

#include "switch_clock.skel.h"

static void write_threads(int threads, FILE *to)
{
	u32 tid, *last = NULL;
	struct switch_clock clock;

	while (!bpf_map_get_next_key(threads, last, &tid)) {
		if (!bpf_map_lookup_elem(threads, &tid, &clock))
			fprintf(to, "%u %llu %llu %llu\n", tid, (unsigned long long)clock.by_kernel,
				(unsigned long long)clock.by_read, (unsigned long long)clock.turns);
		last = &tid;
	}
}

int main(int argc, char **argv)
{
	struct switch_clock_bpf *bpf = argc == 2 ? switch_clock_bpf__open_and_load() : NULL;
	char end;
	FILE *to;

	if (!bpf || switch_clock_bpf__attach(bpf)) {
		fprintf(stderr, "switch_clock FILE: the program could not be loaded\n");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		continue;
	switch_clock_bpf__detach(bpf);
	to = fopen(argv[1], "w");
	if (!to)
		return 1;
	write_threads(bpf_map__fd(bpf->maps.threads), to);
	return fclose(to) ? 1 : 0;
}
