/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded into a command: refuses the first REFUSE_COUNT loads of BPF programs called REFUSE_NAME
 * (at most 15 characters) with E2BIG, as the verifier of a future kernel may. libbpf tries each
 * refused load once more, for its log.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_refused(const union bpf_attr *attr)
{
	const char *name = getenv("REFUSE_NAME"), *count = getenv("REFUSE_COUNT");
	static int refused;

	return name && count && !strcmp(attr->prog_name, name) && refused++ < atoi(count);
}

/* Replaces the C library's syscall(), which libbpf calls. */
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long argument[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && argument[0] == BPF_PROG_LOAD &&
	    is_refused((const union bpf_attr *)argument[1])) {
		errno = E2BIG;
		return -1;
	}
	return real(number, argument[0], argument[1], argument[2], argument[3], argument[4],
		    argument[5]);
}
