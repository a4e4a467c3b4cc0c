/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * write_stacks PID: the user stacks from which a process calls write(2), with how often. Counts
 * until its input ends; prints "ready" when it has begun.
 *
 *   write_stacks 1234
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <stackmap/client.h>

#include "write_stacks.skel.h"

static void print_frame(const struct stackmap_client *client, uint64_t frame)
{
	char path[PATH_MAX];
	uint64_t offset;

	if (!stackmap_client_place(client, frame, path, sizeof(path), &offset))
		printf("    %s+0x%" PRIx64 "\n", path, offset);
}

static void print_stack(struct stackmap_client *client, uint32_t id, uint64_t count)
{
	uint64_t frames[STACKMAP_DEPTH_MAX];
	struct stackmap_stack stack;

	if (stackmap_client_find(client, id, &stack, frames, STACKMAP_DEPTH_MAX))
		return;
	printf("%" PRIu64 " calls, stack %" PRIu32 "\n", count, id);
	for (uint32_t i = 0; i < stack.depth; i++)
		print_frame(client, frames[i]);
}

static void print_counts(struct write_stacks_bpf *programs, struct stackmap_client *client)
{
	int fd = bpf_map__fd(programs->maps.counts);
	uint32_t *last = NULL, id;
	uint64_t count;

	for (; !bpf_map_get_next_key(fd, last, &id); last = &id)
		if (!bpf_map_lookup_elem(fd, &id, &count))
			print_stack(client, id, count);
	printf("%llu calls, %llu without a stack\n", programs->bss->calls,
	       programs->bss->without_stack);
}

static void wait_for_end(void)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static int count_writes(struct write_stacks_bpf *programs, struct stackmap_client *client,
			struct stackmap_error *error)
{
	int result = write_stacks_bpf__load(programs);

	if (result) {
		snprintf(error->message, sizeof(error->message), "loading: %s", strerror(-result));
		return result;
	}
	result = stackmap_client_start(client, error);
	if (result)
		return result;
	programs->links.on_syscall = bpf_program__attach(programs->progs.on_syscall);
	if (!programs->links.on_syscall) {
		snprintf(error->message, sizeof(error->message), "attaching: %s", strerror(errno));
		return -errno;
	}
	wait_for_end();
	write_stacks_bpf__detach(programs);
	print_counts(programs, client);
	return 0;
}

int main(int argc, char **argv)
{
	struct write_stacks_bpf *programs = argc == 2 ? write_stacks_bpf__open() : NULL;
	struct stackmap_client *client = NULL;
	struct stackmap_error error = {.message = "usage: write_stacks PID"};
	int result = -EINVAL;

	if (programs) {
		programs->rodata->process = atoi(argv[1]);
		result =
			stackmap_client_open(programs->obj, STACKMAP_BITS_DEFAULT, &client, &error);
	}
	if (!result)
		result = count_writes(programs, client, &error);
	if (result)
		fprintf(stderr, "write_stacks: %s\n", error.message);
	stackmap_client_close(&client);
	write_stacks_bpf__destroy(programs);
	return result != 0;
}
