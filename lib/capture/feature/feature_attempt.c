/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attempts that need no event to attach to. An attempt never leaves anything behind: programs, maps
 * and links die with their file descriptors.
 */
#include "feature_attempt.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel_btf.h"
#include "tracefs.h"

/* Two instructions: r0 = 0; exit. */
int empty_program_load(enum bpf_prog_type type, u32 attach_type, u32 btf_id)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id);

	return bpf_prog_load(type, "empty", "GPL", code, sizeof(code) / sizeof(code[0]), &options);
}

int attempt_close(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int attempt_bpf(const char **step)
{
	int err;

	*step = "create a BPF map";
	err = attempt_close(bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL));
	if (err)
		return err;
	*step = "load a BPF program";
	return attempt_close(empty_program_load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0));
}

int attempt_btf(const char **step)
{
	struct btf *btf;

	*step = "read /sys/kernel/btf/vmlinux";
	btf = kernel_btf_load();
	if (!btf)
		return -errno;
	btf__free(btf);
	return 0;
}

int attempt_tracefs(const char **step)
{
	*step = "open tracefs";
	return attempt_close(tracefs_open_events());
}

static int find_option(int events, const char *path)
{
	return faccessat(events, path, F_OK, 0) ? -errno : 0;
}

/* Kernel stacks by id, then user stacks. */
int attempt_ftrace_stack_ids(const char **step)
{
	int events, err;

	*step = "open tracefs";
	events = tracefs_open_events();
	if (events < 0)
		return events;
	*step = "find options/stackmap in tracefs";
	err = find_option(events, "../options/stackmap");
	if (!err) {
		*step = "find options/userstackmap in tracefs (kernel stacks have ids)";
		err = find_option(events, "../options/userstackmap");
	}
	close(events);
	return err;
}

/* Addresses that may not be seen are all zero. */
int attempt_kallsyms(const char **step)
{
	unsigned long long address = 0;
	FILE *symbols;
	int err = 0;

	*step = "read /proc/kallsyms";
	symbols = fopen("/proc/kallsyms", "re");
	if (!symbols)
		return -errno;
	*step = "see addresses in /proc/kallsyms";
	while (!address && fscanf(symbols, "%llx%*[^\n]", &address) == 1)
		;
	if (!address)
		err = -EPERM;
	fclose(symbols);
	return err;
}
