/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Task work is tried on ourselves: the callback has run when the system call that asked for it
 * returns. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>

#include "deferral.h"
#include "feature.h"
#include "feature_attempt.h"
#include "kernel_btf.h"

#include "task_work_probe.skel.h"

#define SCHEDULE "bpf_task_work_schedule_resume_impl"

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* What a kernel refuses is said in `step`. */
static struct task_work_probe_bpf *load_quietly(void)
{
	libbpf_print_fn_t printed = libbpf_set_print(print_nothing);
	struct task_work_probe_bpf *probe = task_work_probe_bpf__open_and_load();
	int error = errno;

	libbpf_set_print(printed);
	errno = error;
	return probe;
}

static int ask(struct task_work_probe_bpf *probe, const char **step)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int result;

	*step = "ask the kernel for a callback";
	result = bpf_prog_test_run_opts(bpf_program__fd(probe->progs.ask_for_callback), &options);
	result = result ?: (int)options.retval;
	if (result)
		return result;
	*step = "be called back by the kernel";
	return probe->bss->called_back ? 0 : -EOPNOTSUPP;
}

/* The reason why a program could not be loaded: first of all, that there is no task work. */
static int refused(int error, const char **step)
{
	int id = kernel_btf_function(SCHEDULE);

	if (id >= 0)
		return error;
	*step = "find " SCHEDULE " in the kernel's BTF";
	return id;
}

int attempt_task_work(const char **step)
{
	struct task_work_probe_bpf *probe;
	int result;

	*step = "load a BPF program that uses task work";
	probe = load_quietly();
	if (!probe)
		return refused(-errno, step);
	result = ask(probe, step);
	task_work_probe_bpf__destroy(probe);
	return result;
}

bool feature_task_work_is_named(void)
{
	return kernel_btf_mentions(SCHEDULE);
}
