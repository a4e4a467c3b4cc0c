/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening, configuring and loading the object; what the kernel said when it refused. */
#include "capture/load/program_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/bpffs/engine_folder.h"
#include "capture/feature/bpf_attr.h"
#include "capture/feature/task_work.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "privilege/capability.h"
#include "privilege/limit.h"
#include "ring.h"
#include "scratch.h"

/* libbpf reports through a callback: the first warning is kept, to say why a load failed. */
static _Thread_local char first_warning[256];

static int keep_warning(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN && !first_warning[0]) {
		vsnprintf(first_warning, sizeof(first_warning), format, args);
		first_warning[strcspn(first_warning, "\n")] = 0;
	}
	return 0;
}

struct bpf_program *program_set_program(const struct program_set *set, enum program program)
{
	struct capture_bpf *object = set->object;

	switch (program) {
	case PROGRAM_SAMPLE:
		return object->progs.on_sample;
	case PROGRAM_TRACEPOINT:
		return object->progs.on_tracepoint;
	case PROGRAM_SYSCALL_ENTER:
		return object->progs.on_syscall_enter;
	case PROGRAM_SYSCALL_EXIT:
		return object->progs.on_syscall_exit;
	case PROGRAM_USER:
		return object->progs.on_user_function;
	case PROGRAM_USER_MULTI:
		return object->progs.on_user_functions;
	case PROGRAM_KERNEL_PROBE:
		return object->progs.on_kernel_probe;
	case PROGRAM_KERNEL_MULTI:
		return object->progs.on_kernel_functions;
	case PROGRAM_KERNEL_ENTRY:
		return object->progs.on_kernel_entry;
	case PROGRAM_KERNEL_RETURN:
		return object->progs.on_kernel_return;
	case PROGRAM_OFF_CPU:
		return object->progs.on_switch;
	case PROGRAM_WAKER:
		return object->progs.on_wake;
	case PROGRAM_VALUED:
		return object->progs.on_valued;
	case PROGRAM_VALUED_CALL:
		return object->progs.on_valued_call;
	case PROGRAM_TASKS:
		return object->progs.task_fork;
	}
	return NULL;
}

static bool defers(const struct plan *plan)
{
	return plan->config.user_stacks && plan->config.user_unwind == USER_UNWIND_AUTO;
}

/* What serves requests for user stacks outside of events. */
static void select_deferral(struct program_set *set, const struct plan *plan)
{
	bool by_task_work = plan->config.deferral == DEFERRAL_TASK_WORK;

	bpf_program__set_autoload(set->object->progs.task_leave, defers(plan));
	bpf_program__set_autoload(set->object->progs.take_at_syscall, plan->config.user_at_syscall);
	bpf_program__set_autoload(set->object->progs.drop_at_syscall, plan->config.user_at_syscall);
	bpf_program__set_autoload(set->object->progs.unwind_blocked, defers(plan) && by_task_work);
}

static void select_programs(struct program_set *set, const struct plan *plan)
{
	struct bpf_program *program;
	u32 bit;

	bpf_object__for_each_program(program, set->object->obj)
		bpf_program__set_autoload(program, false);
	for (bit = PROGRAM_TASKS; bit <= PROGRAM_LAST; bit <<= 1)
		if (set->programs & bit)
			bpf_program__set_autoload(program_set_program(set, bit), true);
	if (set->programs & PROGRAM_TASKS) {
		bpf_program__set_autoload(set->object->progs.task_rename, true);
		bpf_program__set_autoload(set->object->progs.task_exec, true);
		bpf_program__set_autoload(set->object->progs.task_exit, true);
		bpf_program__set_autoload(set->object->progs.task_free, true);
		bpf_program__set_autoload(set->object->progs.cgroup_made, true);
		bpf_program__set_autoload(set->object->progs.task_move, true);
		select_deferral(set, plan);
	}
	if (set->programs & PROGRAM_OFF_CPU)
		bpf_program__set_autoload(set->object->progs.on_stop, !plan->config.has_files);
	if (set->programs & PROGRAM_USER_MULTI)
		bpf_program__set_expected_attach_type(program_set_program(set, PROGRAM_USER_MULTI),
						      ATTACH_TYPE_UPROBE_MULTI);
}

static int select_function(struct program_set *set)
{
	u32 bit = set->programs & (PROGRAM_KERNEL_ENTRY | PROGRAM_KERNEL_RETURN);

	if (!bit)
		return 0;
	return bpf_program__set_attach_target(program_set_program(set, bit), 0, set->function);
}

static void set_constants(struct program_set *set, const struct plan *plan)
{
	struct capture_bpf__rodata *constants = set->object->rodata;

	memcpy(&constants->config, &plan->config, sizeof(plan->config));
	memcpy(&constants->geometry, &plan->geometry, sizeof(plan->geometry));
	memcpy(&constants->syscalls, &plan->syscalls, sizeof(plan->syscalls));
	constants->config.cookie = set->cookie;
	constants->config.kind = set->kind;
	constants->config.sample = set->sample;
}

/* Each CPU has some in hand that it has not used yet. */
#define TASK_NAMES 8192
#define TASK_NAMES_A_CPU 128

/* The first calls of a function come in a burst, before any rule is known. */
#define RAW_STACKS_PROBED (32U << 20)

static int size_raw_stacks(struct capture_bpf *object, const struct plan *plan)
{
	if (!plan->user_functions || plan->config.deferral == DEFERRAL_TASK_WORK)
		return 0;
	return bpf_map__set_max_entries(object->maps.raw_stacks, RAW_STACKS_PROBED);
}

/* An instance that defers nothing has these only because its programs name them. */
static int size_deferral(struct capture_bpf *object, const struct plan *plan)
{
	u32 cpus = defers(plan) ? plan->config.cpus : 1;
	u32 buffers = cpus * bpf_map__max_entries(object->maps.raw_buffers);
	int result = bpf_map__set_max_entries(object->maps.steps, cpus);

	result = result ?: bpf_map__set_max_entries(object->maps.raw_buffers, buffers);
	if (defers(plan))
		return result ?: size_raw_stacks(object, plan);
	result = result ?: bpf_map__set_max_entries(object->maps.deferrals, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.execve_calls, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.works, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.unlearned, 1);
	return result ?: bpf_map__set_max_entries(object->maps.raw_stacks, sysconf(_SC_PAGESIZE));
}

static int size_maps(struct program_set *set, const struct plan *plan, int table_fd)
{
	const struct capture_config *config = &plan->config;
	struct capture_bpf *object = set->object;
	int result = bpf_map__set_max_entries(object->maps.scratch_slots, config->cpus);

	result = result ?: bpf_map__set_max_entries(object->maps.steps, config->cpus);
	if (!plan->off_cpu)
		result = result ?: bpf_map__set_max_entries(object->maps.blocked, 1);
	if (!config->by_task)
		result = result ?: bpf_map__set_max_entries(object->maps.followed, 1);
	if (config->has_files)
		result = result
				 ?: bpf_map__set_max_entries(object->maps.task_names,
							     TASK_NAMES + TASK_NAMES_A_CPU *
										  config->cpus);
	result = result ?: bpf_map__set_max_entries(object->maps.rings, config->cpus);
	result = result
			 ?: bpf_map__set_value_size(
				    object->maps.rings,
				    RING_BYTES(config->ring_slots, config->slot_size));
	result = result ?: bpf_map__set_max_entries(object->maps.task_rings, config->cpus);
	result = result
			 ?: bpf_map__set_value_size(
				    object->maps.task_rings,
				    RING_BYTES(config->task_slots, sizeof(struct task_slot)));
	result = result ?: size_deferral(object, plan);
	return result ?: bpf_map__set_inner_map_fd(object->maps.tables, table_fd);
}

/* All maps but the constants. */
static int share_maps(struct program_set *set, const struct program_set *first)
{
	struct bpf_map *map, *lent;

	bpf_object__for_each_map(map, set->object->obj)
	{
		int result;

		if (map == set->object->maps.rodata)
			continue;
		lent = bpf_object__find_map_by_name(first->object->obj, bpf_map__name(map));
		result = lent ? bpf_map__reuse_fd(map, bpf_map__fd(lent)) : -ENOENT;
		if (result)
			return result;
	}
	return 0;
}

/* Without CAP_PERFMON the verifier knows some programs and helpers not at all. */
int programs_refused(int code, struct stackmap_error *error)
{
	if (!capability_to_trace())
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

void programs_listen(void)
{
	first_warning[0] = 0;
	libbpf_set_print(keep_warning);
}

static int open_object(struct program_set *set, const struct plan *plan)
{
	programs_listen();
	set->object = capture_bpf__open();
	if (!set->object)
		return -errno;
	select_programs(set, plan);
	set_constants(set, plan);
	return select_function(set);
}

static int loaded(int result, struct program_set *set, struct stackmap_error *error)
{
	if (!result)
		return 0;
	if (set->object)
		program_set_unload(set);
	return programs_refused(-result, error);
}

/* Shows the variables of a map where the skeleton has them. */
static int show_variables(struct bpf_map *map)
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

/* Of a map that was lent, libbpf shows the variables up to 1.4 only; from 1.5 on they are memory
 * that no program sees. */
static int show_all_variables(const struct bpf_object *object)
{
	struct bpf_map *map;
	int result = 0;

	bpf_object__for_each_map(map, object) result = result ?: show_variables(map);
	return result;
}

/* Where there is no memory to try it, libbpf takes it that the kernel has no global data, and goes
 * on without. */
int program_set_load_object(struct program_set *set)
{
	int result;

	task_work_prepare(set->object->obj);
	result = capture_bpf__load(set->object);
	if (result)
		return result;
	if (!set->object->bss || !set->object->rodata)
		return -ENOMEM;
	return show_all_variables(set->object->obj);
}

int program_set_load_first(struct program_set *set, const struct plan *plan, int table_fd,
			   struct engine *engine, struct stackmap_error *error)
{
	int result = open_object(set, plan);

	result = result ?: size_maps(set, plan, table_fd);
	result = result ?: engine_lend(engine, set->object->obj);
	result = result ?: program_set_load_object(set);
	if (!result)
		engine_publish(engine, set->object->obj);
	return loaded(result, set, error);
}

int program_set_load(struct program_set *set, const struct plan *plan,
		     const struct program_set *first, struct stackmap_error *error)
{
	int result = open_object(set, plan);

	result = result ?: share_maps(set, first);
	return loaded(result ?: program_set_load_object(set), set, error);
}

void program_set_unload(struct program_set *set)
{
	capture_bpf__destroy(set->object);
	set->object = NULL;
}

/* What a recorder's own programs need comes first: hooks run in the order of their attaching.
 * Before 6.10 nothing comes before an execve drops the old memory. */
void program_set_hooks(const struct program_set *set, struct task_hook hooks[TASK_HOOKS])
{
	const __typeof__(set->object->progs) *programs = &set->object->progs;
	const struct task_hook all[TASK_HOOKS] = {
		{"sched_process_fork", bpf_program__fd(programs->task_fork)},
		{"task_rename", bpf_program__fd(programs->task_rename)},
		{"sched_process_exec", bpf_program__fd(programs->task_exec)},
		{"sched_process_free", bpf_program__fd(programs->task_free)},
		{"cgroup_mkdir", bpf_program__fd(programs->cgroup_made), true},
		{"cgroup_attach_task", bpf_program__fd(programs->task_move), true},
		{"sched_prepare_exec", bpf_program__fd(programs->task_leave), true},
		{"sched_process_exit", bpf_program__fd(programs->task_leave)},
		{"sched_process_exit", bpf_program__fd(programs->task_exit)},
		{"sys_enter", bpf_program__fd(programs->take_at_syscall)},
		{"sys_exit", bpf_program__fd(programs->drop_at_syscall)},
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
	u32 bit;

	for (bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST; bit <<= 1)
		if (set->programs & bit)
			misses += program_recursion_misses(
				bpf_program__fd(program_set_program(set, bit)));
	return misses;
}
