/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/feature/task_work.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/feature/boot_facts.h"
#include "capture/feature/feature.h"
#include "capture/feature/kernel_btf.h"
#include "clock.h"
#include "deferral.h"
#include "feature_attempt.h"
#include "task_work_probe.skel.h"

/* --- The attempt: a sampling clock interrupts this thread, and the clock's BPF program schedules a
 * callback. --- */

#define PERIOD_NS 50000
#define ASKED_MAX 16
/* CPU time after which the attempt is given up, as the clock does not interrupt. */
#define CPU_NS_MAX 100000000

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Loads the probe without libbpf's messages. */
static int load_probe_quietly(struct task_work_probe_bpf **out)
{
	libbpf_print_fn_t printed = libbpf_set_print(print_nothing);
	struct task_work_probe_bpf *probe = task_work_probe_bpf__open();
	int result = probe ? 0 : -errno;

	if (probe) {
		task_work_remove_unusable_functions(probe->obj);
		/* If memory is short, libbpf assumes that the kernel has no global data, and loads
		 * the program without its variables; that is an error here. */
		result = task_work_probe_bpf__load(probe) ?: probe->bss ? 0 : -ENOMEM;
	}
	libbpf_set_print(printed);
	if (result)
		task_work_probe_bpf__destroy(probe);
	else
		*out = probe;
	return result;
}

/* Opens a perf event, a CPU clock that interrupts this thread in user mode and runs the program. */
static int open_sampling_clock(const struct bpf_program *program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program)))
		return fd;
	close(fd);
	return -errno;
}

static int try_task_work_callback(struct task_work_probe_bpf *probe, const char **step)
{
	volatile struct task_work_probe_bpf__bss *shared = probe->bss;
	int clock;
	u64 end;

	*step = "ask the kernel for a callback, from a clock's interrupt";
	clock = open_sampling_clock(probe->progs.ask_for_callback);
	if (clock < 0)
		return clock;
	/* Runs in user mode until the callback has run, or the clock has interrupted ASKED_MAX
	 * times. */
	end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + CPU_NS_MAX;
	while (!shared->called_back && shared->asked < ASKED_MAX &&
	       clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (u32 i = 0; i < 10000 && !shared->called_back; i++)
			shared->user_steps++;
	close(clock);
	if (probe->bss->called_back)
		return 0;
	if (probe->bss->asked && !probe->bss->answer)
		*step = "be called back by the kernel";
	return probe->bss->asked ? probe->bss->answer ?: -EOPNOTSUPP : -ETIMEDOUT;
}

int attempt_task_work(const char **step)
{
	struct task_work_probe_bpf *probe;
	int result;

	*step = "find bpf_task_work_schedule_resume in the kernel's BTF";
	if (task_work_form() == TASK_WORK_NONE)
		return -ENOENT;
	*step = "load a BPF program that uses task work";
	result = load_probe_quietly(&probe);
	if (result)
		return result;
	result = try_task_work_callback(probe, step);
	task_work_probe_bpf__destroy(probe);
	return result;
}

#define SCHEDULE "bpf_task_work_schedule_resume"
#define SCHEDULE_AUX SCHEDULE "_impl"

/* The kernel functions that BPF objects may call. */
static const char *const names[] = {
	SCHEDULE,
	SCHEDULE_AUX,
	"bpf_rcu_read_lock", /* in the kernel since Linux 6.2, like the next three functions */
	"bpf_rcu_read_unlock",
	"bpf_task_from_pid", /* used to find blocked tasks (bpf/deferral/unwind_blocked.h) */
	"bpf_task_release",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Which of `names` the kernel's BTF has, a bit for each, remembered in the process, and in a file
 * until the next boot (boot_facts.h). Reading the BTF takes some milliseconds. */
static u64 find_btf_names_of_kernel(void)
{
	static _Atomic u64 known;
	const u64 is_known = 1ULL << 63;
	u64 bits = is_known;

	if (known)
		return known;
	for (u32 i = 0; i < NAMES; i++) {
		int fact = boot_fact_read(BOOT_FACTS_FOLDER, names[i]);

		if (fact < 0) {
			bits = kernel_btf_find_names(names, NAMES);
			for (u32 kept = 0; bits && kept < NAMES; kept++)
				boot_fact_store(BOOT_FACTS_FOLDER, names[kept], bits >> kept & 1);
			bits |= is_known;
			break;
		}
		bits |= (u64)fact << i;
	}
	known = bits;
	return bits;
}

enum task_work_form task_work_form(void)
{
	u64 bits = find_btf_names_of_kernel();

	if (bits & 1)
		return TASK_WORK_PLAIN;
	return bits & 2 ? TASK_WORK_AUX : TASK_WORK_NONE;
}

void task_work_remove_unusable_functions(struct bpf_object *object)
{
	const struct btf *types = bpf_object__btf(object);
	u64 bits = find_btf_names_of_kernel();

	if (task_work_form() == TASK_WORK_PLAIN)
		bits &= ~2ULL; /* the kernel's SCHEDULE_AUX has another prototype than the objects
				  declare */
	/* A function that the kernel lacks gets the name "void", which libbpf does not look up. Any
	 * other name that the kernel lacks would be looked up in modules, which needs
	 * CAP_SYS_ADMIN. */
	for (u32 i = 0; i < NAMES; i++) {
		int id = bits >> i & 1 ? 0 : btf__find_by_name_kind(types, names[i], BTF_KIND_FUNC);

		if (id > 0)
			strcpy((char *)btf__name_by_offset(types,
							   btf__type_by_id(types, id)->name_off),
			       "void");
	}
}

static struct feature_result tried;

static void try_task_work(void)
{
	feature_probe_once(FEATURE_TASK_WORK, &tried);
}

static const struct feature_result *task_work_result(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, try_task_work);
	return &tried;
}

bool task_work_works(void)
{
	return task_work_result()->works;
}

const char *task_work_failure(void)
{
	return task_work_result()->why;
}
