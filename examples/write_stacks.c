/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* write_stacks PID: the user stacks from which a process calls write(2), with how often, until its
 * input ends. Prints "ready" when it has begun. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <stackmap/client.h>

#include "write_stacks.skel.h"

static void print_stack(struct stackmap_client *client, uint32_t id, uint64_t count)
{
	uint64_t frames[STACKMAP_DEPTH_MAX], offset;
	struct stackmap_stack stack;
	char path[PATH_MAX];

	if (stackmap_client_find(client, id, &stack, frames, STACKMAP_DEPTH_MAX))
		return;
	printf("%" PRIu64 " calls, stack %" PRIu32 "\n", count, id);
	for (uint32_t i = 0; i < stack.depth; i++)
		if (!stackmap_client_place(client, frames[i], path, sizeof(path), &offset))
			printf("    %s+0x%" PRIx64 "\n", path, offset);
}

int main(int argc, char **argv)
{
	struct write_stacks_bpf *programs = argc == 2 ? write_stacks_bpf__open() : NULL;
	struct stackmap_client *client;
	struct stackmap_error error = {.message = "BPF programs cannot be loaded"};
	uint32_t *last = NULL, id;
	uint64_t count;
	int counts;

	if (!programs)
		return fprintf(stderr, "write_stacks: usage: write_stacks PID\n"), 1;
	programs->rodata->process = atoi(argv[1]);
	if (stackmap_client_open(programs->obj, STACKMAP_BITS_DEFAULT, &client, &error) ||
	    write_stacks_bpf__load(programs) || stackmap_client_start(client, &error) ||
	    !(programs->links.on_syscall = bpf_program__attach(programs->progs.on_syscall)))
		return fprintf(stderr, "write_stacks: %s\n", error.message), 1;
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	write_stacks_bpf__detach(programs);
	counts = bpf_map__fd(programs->maps.counts);
	for (; !bpf_map_get_next_key(counts, last, &id); last = &id)
		if (!bpf_map_lookup_elem(counts, &id, &count))
			print_stack(client, id, count);
	printf("%llu calls, %llu without a stack\n", programs->bss->calls,
	       programs->bss->without_stack);
	stackmap_client_close(&client);
	write_stacks_bpf__destroy(programs);
	return 0;
}
