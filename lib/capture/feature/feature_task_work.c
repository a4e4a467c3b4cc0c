/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Task work is tried on ourselves: a clock interrupts us a few times, and asks. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/feature/task_work.h"
#include "deferral.h"
#include "feature_attempt.h"

#include "task_work_probe.skel.h"

#define PERIOD_NS 50000
#define ASKED_MAX 16
#define CPU_NS_MAX 100000000 /* of a clock that does not come */

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Where there is no memory to try it, libbpf takes it that the kernel has no global data. */
static int load(struct task_work_probe_bpf *probe)
{
	int result;

	task_work_prepare(probe->obj);
	result = task_work_probe_bpf__load(probe);
	return result ?: probe->bss ? 0 : -ENOMEM;
}

/* What a kernel refuses is said in `step`. */
static int load_quietly(struct task_work_probe_bpf **out)
{
	libbpf_print_fn_t printed = libbpf_set_print(print_nothing);
	struct task_work_probe_bpf *probe = task_work_probe_bpf__open();
	int result = probe ? load(probe) : -errno;

	libbpf_set_print(printed);
	if (result)
		task_work_probe_bpf__destroy(probe);
	else
		*out = probe;
	return result;
}

/* A clock that interrupts this thread in user mode and runs the program. */
static int open_clock(const struct bpf_program *program)
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

static bool has_time(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (now.tv_sec - start->tv_sec) * 1000000000L + now.tv_nsec - start->tv_nsec <
	       CPU_NS_MAX;
}

static void be_interrupted(volatile struct task_work_probe_bpf__bss *shared)
{
	struct timespec start;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	while (!shared->called_back && shared->asked < ASKED_MAX && has_time(&start))
		for (u32 i = 0; i < 10000 && !shared->called_back; i++)
			shared->user_steps++;
}

static int ask(struct task_work_probe_bpf *probe, const char **step)
{
	int clock;

	*step = "ask the kernel for a callback, from a clock's interrupt";
	clock = open_clock(probe->progs.ask_for_callback);
	if (clock < 0)
		return clock;
	be_interrupted(probe->bss);
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
	result = load_quietly(&probe);
	if (result)
		return result;
	result = ask(probe, step);
	task_work_probe_bpf__destroy(probe);
	return result;
}
