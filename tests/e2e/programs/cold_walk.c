/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cold_walk OBJECT PROGRAM...: unwinds with reads that cannot fault pages in. The BPF program
 * (tests/unwind/unwind_walk.bpf.c) has no cached rule, and unwinds each getppid() of the program at
 * its entry; prints the frames and the stop reason, one line a call.
 *
 * Exit: 0, 1, 77 BPF or ptrace is not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "traced.h"
#include "unwind_walk.h"

#define SKIP 77

static struct traced traced;

static const char *const stop_names[] = {
#define X(id, name, meaning) [STOP_##id] = name,
	STOP_REASONS(X)
#undef X
};

static void *map_memory(struct bpf_object *object, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), suffix))
			return mmap(NULL, bpf_map__value_size(map), PROT_READ | PROT_WRITE,
				    MAP_SHARED, bpf_map__fd(map), 0);
	}
	return MAP_FAILED;
}

/* The program is stopped, and its memory is not read, which would bring pages in. */
static void give_mappings(struct walk_control *control)
{
	traced_maps(&traced);
	traced_list_code(&traced, &control->mappings);
	control->tid = traced.tid;
}

/* True at the entry of getppid(), not at its exit. */
static bool at_getppid(void)
{
	struct __ptrace_syscall_info call;

	return ptrace(PTRACE_GET_SYSCALL_INFO, traced.tid, sizeof(call), &call) > 0 &&
	       call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr == SYS_getppid;
}

static void watch(struct walk_control *control, const struct unwind *walked)
{
	enum traced_stop stop;

	while ((stop = traced_resume(&traced, PTRACE_SYSCALL)) != TRACED_EXITED) {
		u64 walks = control->walks;

		if (stop != TRACED_SYSCALL || !at_getppid())
			continue;
		give_mappings(control);
		if (traced_resume(&traced, PTRACE_SYSCALL) == TRACED_EXITED)
			return;
		if (control->walks != walks)
			printf("%u %s\n", walked->depth, stop_names[walked->stop]);
		control->tid = 0;
	}
}

int main(int argc, char **argv)
{
	struct walk_control *control;
	struct bpf_object *object;
	void *walked;

	if (argc < 3)
		return 2;
	object = bpf_object__open(argv[1]);
	if (!object || bpf_object__load(object) ||
	    !bpf_program__attach(bpf_object__find_program_by_name(object, "walk")) ||
	    !traced_start(&traced, argv + 2)) {
		printf("no BPF programs or no ptrace here\n");
		return SKIP;
	}
	control = map_memory(object, ".data.control");
	walked = map_memory(object, "walks");
	if (control == MAP_FAILED || walked == MAP_FAILED)
		return 1;
	watch(control, walked);
	traced_end(&traced);
	bpf_object__close(object);
	return 0;
}
