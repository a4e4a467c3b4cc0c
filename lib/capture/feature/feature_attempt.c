/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs, maps and links end with their file descriptors, so an attempt leaves no trace. The
 * empty program is attached to a disabled perf event, a rare tracepoint or kernel function, or a
 * function of this program that is never called.
 */
#include "feature_attempt.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_attr.h"
#include "kernel_btf.h"
#include "tracefs.h"

#define RARE_TRACEPOINT "sched_process_exec"
#define RARE_FUNCTION "vfs_fallocate"

static int open_perf_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int attach_empty_program(int event, enum bpf_prog_type type, const char **step)
{
	int program, err = 0;

	*step = "load a BPF program for it";
	program = empty_program_load(type, 0, 0);
	if (program < 0)
		return program;
	*step = "attach a BPF program to it";
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program))
		err = -errno;
	close(program);
	return err;
}

static int try_perf_event(struct perf_event_attr *attr, pid_t pid, int cpu, enum bpf_prog_type type,
			  const char **step)
{
	int event = open_perf_event(attr, pid, cpu), err;

	if (event < 0)
		return event;
	err = attach_empty_program(event, type, step);
	close(event);
	return err;
}

int attempt_perf_event(const char **step)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 1,
	};

	*step = "open a CPU clock event on CPU 0";
	return try_perf_event(&attr, -1, 0, BPF_PROG_TYPE_PERF_EVENT, step);
}

int attempt_pmu(const char **step)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	*step = "open a cycles event";
	return close_fd_or_pass_error(open_perf_event(&attr, 0, -1));
}

static int try_raw_tracepoint(u64 cookie, const char **step)
{
	struct raw_tracepoint_attr attr = {.name = (uintptr_t)RARE_TRACEPOINT, .cookie = cookie};
	int program, link;

	*step = "load a BPF program";
	program = empty_program_load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);
	if (program < 0)
		return program;
	*step = cookie ? "attach to " RARE_TRACEPOINT " with a cookie"
		       : "attach to " RARE_TRACEPOINT;
	attr.prog_fd = program;
	link = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	link = link < 0 ? -errno : link;
	close(program);
	return close_fd_or_pass_error(link);
}

int attempt_tracepoint(const char **step)
{
	return try_raw_tracepoint(0, step);
}

int attempt_tracepoint_cookie(const char **step)
{
	return try_raw_tracepoint(1, step);
}

/* Tries to attach a tracing program. `id`: BTF id of the target in the kernel, or -errno. */
static int try_typed_program(int id, enum bpf_attach_type type, const char **step)
{
	int program, link;

	if (id < 0)
		return id;
	*step = "load a BPF program";
	program = empty_program_load(BPF_PROG_TYPE_TRACING, type, id);
	if (program < 0)
		return program;
	*step = "attach it";
	link = bpf_raw_tracepoint_open(NULL, program);
	close(program);
	return close_fd_or_pass_error(link);
}

int attempt_fentry(const char **step)
{
	*step = "find " RARE_FUNCTION " in the kernel's BTF";
	return try_typed_program(kernel_btf_function_id(RARE_FUNCTION), BPF_TRACE_FENTRY, step);
}

int attempt_typed_tracepoint(const char **step)
{
	*step = "find " RARE_TRACEPOINT " in the kernel's BTF";
	return try_typed_program(kernel_btf_tracepoint_id(RARE_TRACEPOINT), BPF_TRACE_RAW_TP, step);
}

int attempt_kprobe(const char **step)
{
	struct perf_event_attr attr = {.kprobe_func = (uintptr_t)RARE_FUNCTION};
	int type;

	*step = "find the kprobe PMU";
	type = read_perf_type_of_pmu("kprobe");
	if (type < 0)
		return type;
	*step = "open a kprobe on " RARE_FUNCTION;
	attr.type = type;
	return try_perf_event(&attr, -1, 0, BPF_PROG_TYPE_KPROBE, step);
}

int attempt_kprobe_multi(const char **step)
{
	const char *name = RARE_FUNCTION;
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.syms = &name,
		    .kprobe_multi.cnt = 1);
	int program, link;

	*step = "load a BPF program for many kprobes";
	program = empty_program_load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0);
	if (program < 0)
		return program;
	*step = "attach to " RARE_FUNCTION;
	link = bpf_link_create(program, 0, BPF_TRACE_KPROBE_MULTI, &options);
	close(program);
	return close_fd_or_pass_error(link);
}

/* Tries a BPF iterator. `map`: descriptor of the map to iterate over, or -1. */
static int try_iterator(const char *function, int map, const char **step)
{
	union bpf_iter_link_info info = {.map.map_fd = map};
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	int id, program, link;

	*step = "find the iterator in the kernel's BTF";
	id = kernel_btf_function_id(function);
	if (id < 0)
		return id;
	*step = "load a BPF program for it";
	program = empty_program_load(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, id);
	if (program < 0)
		return program;
	*step = "attach it";
	link = bpf_link_create(program, 0, BPF_TRACE_ITER, map < 0 ? NULL : &options);
	close(program);
	return close_fd_or_pass_error(link);
}

int attempt_map_iterator(const char **step)
{
	int map, err;

	*step = "create a BPF map";
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL);
	if (map < 0)
		return map;
	err = try_iterator("bpf_iter_bpf_map_elem", map, step);
	close(map);
	return err;
}

int attempt_symbol_iterator(const char **step)
{
	return try_iterator("bpf_iter_ksym", -1, step);
}

int attempt_task_iterator(const char **step)
{
	return try_iterator("bpf_iter_task", -1, step);
}

__attribute__((noinline, used)) static void uprobe_target_function(void)
{
	__asm__ volatile("nop");
}

struct place {
	u64 address;
	u64 offset;
	char path[256];
};

static int find_function_in_object(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct place *place = arg;
	u64 address = place->address - object->dlpi_addr;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		place->offset = address - segment->p_vaddr + segment->p_offset;
		snprintf(place->path, sizeof(place->path), "%s",
			 object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe");
		return 1;
	}
	return 0;
}

/* Sets *place to the file and the file offset of uprobe_target_function(). */
static int locate_own_function(struct place *place)
{
	place->address = (uintptr_t)uprobe_target_function;
	return dl_iterate_phdr(find_function_in_object, place) ? 0 : -ENOENT;
}

int attempt_uprobe(const char **step)
{
	struct place place;
	struct perf_event_attr attr = {0};
	int type, err;

	*step = "find the uprobe PMU";
	type = read_perf_type_of_pmu("uprobe");
	if (type < 0)
		return type;
	*step = "open a uprobe on a function of this program";
	err = locate_own_function(&place);
	if (err)
		return err;
	attr.type = type;
	attr.uprobe_path = (uintptr_t)place.path;
	attr.probe_offset = place.offset;
	return try_perf_event(&attr, 0, -1, BPF_PROG_TYPE_KPROBE, step);
}

static int link_uprobe_multi(int program, const struct place *place)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = program,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)place->path,
		.offsets = (uintptr_t)&place->offset,
		.count = 1,
		.pid = getpid(),
	};
	int link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return link < 0 ? -errno : link;
}

int attempt_uprobe_multi(const char **step)
{
	struct place place;
	int program, link, err;

	*step = "load a BPF program for many uprobes";
	program = empty_program_load(BPF_PROG_TYPE_KPROBE, ATTACH_TYPE_UPROBE_MULTI, 0);
	if (program < 0)
		return program;
	*step = "attach to a function of this program";
	err = locate_own_function(&place);
	link = err ? err : link_uprobe_multi(program, &place);
	close(program);
	return close_fd_or_pass_error(link);
}

/* Loads a program of two instructions: r0 = 0; exit. */
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

int close_fd_or_pass_error(int fd)
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
	err = close_fd_or_pass_error(bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL));
	if (err)
		return err;
	*step = "load a BPF program";
	return close_fd_or_pass_error(empty_program_load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0));
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
	return close_fd_or_pass_error(tracefs_open_events());
}

static int check_tracefs_option(int events, const char *path)
{
	return faccessat(events, path, F_OK, 0) ? -errno : 0;
}

/* Checks that tracefs has the two options by which ftrace records kernel stacks and user stacks by
 * id. */
int attempt_ftrace_stack_ids(const char **step)
{
	int events, err;

	*step = "open tracefs";
	events = tracefs_open_events();
	if (events < 0)
		return events;
	*step = "find options/stackmap in tracefs";
	err = check_tracefs_option(events, "../options/stackmap");
	if (!err) {
		*step = "find options/userstackmap in tracefs (kernel stacks have ids)";
		err = check_tracefs_option(events, "../options/userstackmap");
	}
	close(events);
	return err;
}

/* The kernel shows hidden addresses as zero. */
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
