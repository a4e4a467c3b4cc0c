/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/load/program_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/feature/task_work.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "privilege/capability.h"
#include "privilege/limit.h"

/* libbpf's first warning, kept as the reason of a failed load. A warning that a field has another
 * size on this kernel is left out: the program does not read such a field. */
#define OTHER_SIZE "accesses field incorrectly"
static _Thread_local char first_warning[256];

static int keep_first_libbpf_warning(enum libbpf_print_level level, const char *format,
				     va_list args)
{
	if (level == LIBBPF_WARN && !first_warning[0] && !strstr(format, OTHER_SIZE)) {
		vsnprintf(first_warning, sizeof(first_warning), format, args);
		first_warning[strcspn(first_warning, "\n")] = 0;
	}
	return 0;
}

/* The programs of events in the object: X(ID, PROGRAM, CALLBACK) has callbacks, which the program
 * defer_CALLBACK in the map callbacks_CALLBACK schedules; ALONE(ID, PROGRAM) has no callbacks. */
#define PROGRAMS(X, ALONE)                                                                         \
	ALONE(TASKS, task_fork)                                                                    \
	X(SAMPLE, on_sample, perf_event)                                                           \
	X(TRACEPOINT, on_tracepoint, raw_tp)                                                       \
	X(SYSCALL_ENTER, on_syscall_enter, raw_tp)                                                 \
	X(SYSCALL_EXIT, on_syscall_exit, raw_tp)                                                   \
	X(USER, on_user_function, kprobe)                                                          \
	X(USER_MULTI, on_user_functions, uprobe_multi)                                             \
	X(KERNEL_PROBE, on_kernel_probe, kprobe)                                                   \
	X(KERNEL_MULTI, on_kernel_functions, kprobe_multi)                                         \
	ALONE(KERNEL_ENTRY, on_kernel_entry)                                                       \
	ALONE(KERNEL_RETURN, on_kernel_return)                                                     \
	X(OFF_CPU, on_switch, switch)                                                              \
	X(WAKER, on_wake, wake)                                                                    \
	X(FIELD_VALUE, on_field_value, tracepoint)                                                 \
	ALONE(FIELD_CALL, on_field_call)                                                           \
	X(TIME, on_time_switch, switch)                                                            \
	X(ORIGIN, on_queue_work, raw_tp)

struct bpf_program *program_set_find_program(const struct program_set *set, enum program program)
{
	switch (program) {
#define ALONE(id, name)                                                                            \
	case PROGRAM_##id:                                                                         \
		return set->object->progs.name;
#define X(id, name, callback) ALONE(id, name)
		PROGRAMS(X, ALONE)
#undef X
#undef ALONE
	}
	return NULL;
}

struct callback_programs program_set_find_callback(const struct program_set *set,
						   enum program program)
{
	__typeof__(set->object->progs) *programs = &set->object->progs;
	__typeof__(set->object->maps) *maps = &set->object->maps;

	switch (program) {
#define ALONE(id, name)                                                                            \
	case PROGRAM_##id:                                                                         \
		break;
#define X(id, name, callback)                                                                      \
	case PROGRAM_##id:                                                                         \
		return (struct callback_programs){programs->defer_##callback,                      \
						  maps->callbacks_##callback};
		PROGRAMS(X, ALONE)
#undef X
#undef ALONE
	}
	return (struct callback_programs){};
}

/* Without CAP_PERFMON the verifier reports some programs and helpers as unknown, so EPERM is the
 * cause whatever `code` is. */
int programs_set_error(int code, struct stackmap_error *error)
{
	if (!capability_allows_loading_programs())
		code = EPERM;
	if (code == EPERM)
		return error_set(error, code, "the kernel refuses BPF programs: %s; %s",
				 strerror(code), capability_advice());
	if (limit_memory_advice())
		code = ENOMEM;
	if (*limit_advice(code))
		return error_set(error, code, "the BPF programs: %s%s", strerror(code),
				 limit_advice(code));
	if (code == ESRCH && access("/sys/kernel/btf/vmlinux", R_OK))
		return error_set(error, code,
				 "/sys/kernel/btf/vmlinux cannot be read: mount sysfs, or take a "
				 "kernel with CONFIG_DEBUG_INFO_BTF");
	return error_set(error, code, "the kernel refuses the BPF programs: %s%s%s", strerror(code),
			 first_warning[0] ? ": " : "", first_warning);
}

void programs_keep_error(const struct bpf_program *program, int code)
{
	if (!first_warning[0])
		snprintf(first_warning, sizeof(first_warning), "prog '%s': %s",
			 bpf_program__name(program), strerror(code));
}

void programs_keep_warning(void)
{
	first_warning[0] = 0;
	libbpf_set_print(keep_first_libbpf_warning);
}

/* Maps the memory of a map with variables at the address where the skeleton has these variables. */
static int map_variables_at_skeleton_address(struct bpf_map *map)
{
	u32 flags = bpf_map__map_flags(map);
	int access = flags & BPF_F_RDONLY_PROG ? PROT_READ : PROT_READ | PROT_WRITE;
	size_t bytes;
	const void *memory = bpf_map__initial_value(map, &bytes);

	if (!memory || !(flags & BPF_F_MMAPABLE))
		return 0;
	return mmap((void *)memory, bytes, access, MAP_SHARED | MAP_FIXED, bpf_map__fd(map), 0) ==
			       MAP_FAILED
		       ? -errno
		       : 0;
}

int program_set_open_object(struct program_set *set)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	size_t bytes;
	const void *object = capture_bpf__elf_bytes(&bytes);
	int result;

	kernel_types_make(object, bytes, &set->types);
	options.btf_custom_path = kernel_types_path(&set->types);
	set->object = capture_bpf__open_opts(&options);
	result = set->object ? 0 : -errno;
	if (result)
		kernel_types_clear(&set->types);
	return result;
}

/* If memory is short, libbpf assumes that the kernel has no global data, and loads the object
 * without its variables; that is an error here. */
int program_set_load_object(struct program_set *set)
{
	struct bpf_map *map;
	int result;

	task_work_remove_unusable_functions(set->object->obj);
	result = capture_bpf__load(set->object);
	kernel_types_clear(&set->types);
	if (result)
		return result;
	if (!set->object->bss || !set->object->rodata)
		return -ENOMEM;
	/* libbpf maps the variables of a reused map up to 1.4 only; from 1.5 on the skeleton's
	 * variables are memory that programs do not see. */
	bpf_object__for_each_map(map, set->object->obj) result =
		result ?: map_variables_at_skeleton_address(map);
	return result;
}

void program_set_unload(struct program_set *set)
{
	while (set->loaded_count--)
		if (set->loaded[set->loaded_count].is_owned)
			close(set->loaded[set->loaded_count].fd);
	free(set->loaded);
	set->loaded = NULL;
	set->loaded_count = set->loaded_room = 0;
	if (!set->is_copy && set->object) {
		kernel_types_clear(&set->types);
		capture_bpf__destroy(set->object);
	}
	set->object = NULL;
}

int program_set_find_fd(const struct program_set *set, const struct bpf_program *program)
{
	for (u32 i = 0; i < set->loaded_count; i++)
		if (set->loaded[i].program == program)
			return set->loaded[i].fd;
	return -1;
}

int program_set_find_event_fd(const struct program_set *set, enum program program)
{
	return program_set_find_fd(set, program_set_find_program(set, program));
}

/* Programs at one tracepoint run in the order of their attaching, so programs that others depend on
 * come first in the list. Before 6.10 no tracepoint runs before an execve drops the old memory
 * (sched_prepare_exec is missing). */
void program_set_list_task_hooks(const struct program_set *set, struct task_hook hooks[TASK_HOOKS])
{
	const __typeof__(set->object->progs) *programs = &set->object->progs;
	const struct task_hook all[TASK_HOOKS] = {
		{"sched_process_fork", program_set_find_fd(set, programs->task_fork)},
		{"task_rename", program_set_find_fd(set, programs->task_rename)},
		{"sched_process_exec", program_set_find_fd(set, programs->task_exec)},
		{"sched_process_free", program_set_find_fd(set, programs->task_free)},
		{"cgroup_mkdir", program_set_find_fd(set, programs->cgroup_made), true},
		{"cgroup_attach_task", program_set_find_fd(set, programs->task_move), true},
		{"sched_prepare_exec", program_set_find_fd(set, programs->task_leave), true},
		{"sched_process_exit", program_set_find_fd(set, programs->task_leave)},
		{"sched_process_exit", program_set_find_fd(set, programs->task_exit)},
		{"sys_enter", program_set_find_fd(set, programs->take_at_syscall)},
		{"sys_exit", program_set_find_fd(set, programs->drop_at_syscall)},
	};

	memcpy(hooks, all, sizeof(all));
}

u64 program_recursion_misses(int fd)
{
	struct bpf_prog_info info = {};
	u32 bytes = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &bytes))
		return 0;
	return info.type == BPF_PROG_TYPE_TRACEPOINT ? 0 : info.recursion_misses;
}

u64 program_set_recursion_misses(const struct program_set *set)
{
	u64 misses = 0;

	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST; bit <<= 1)
		if (set->programs & bit)
			misses += program_recursion_misses(program_set_find_event_fd(set, bit));
	return misses;
}
