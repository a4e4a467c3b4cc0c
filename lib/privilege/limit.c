/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * If a library runs out of memory, its errno may be another one than ENOMEM. The functions of this
 * file therefore try to allocate memory.
 */
#include "privilege/limit.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Bytes that are allocated to see whether there is memory: several times the size of the kernel's
 * type information, which libbpf loads. */
#define TRIED_BYTES (64UL << 20)

static bool is_resource_limit_finite(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

bool can_map_memory_below_limits(void)
{
	void *memory = mmap(NULL, TRIED_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory != MAP_FAILED && !munmap(memory, TRIED_BYTES);
}

const char *limit_memory_advice(void)
{
	if (can_map_memory_below_limits())
		return NULL;
	if (is_resource_limit_finite(RLIMIT_AS))
		return "; raise the limit with ulimit -v";
	return is_resource_limit_finite(RLIMIT_DATA) ? "; raise the limit with ulimit -d" : NULL;
}

const char *limit_advice(int code)
{
	const char *memory = code == ENOMEM ? limit_memory_advice() : NULL;

	if (code == EMFILE)
		return "; raise the limit with ulimit -n";
	return memory ? memory : "";
}
