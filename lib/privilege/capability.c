/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capget(2) and capset(2) are called directly, with a struct of six words. libcap would add memory
 * allocations and text parsing.
 */
#include "capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get_capabilities(struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

u64 capability_held(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (get_capabilities(data))
		return 0;
	return data[0].effective | (u64)data[1].effective << 32;
}

bool capability_allows_loading_programs(void)
{
	const u64 needed = CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	u64 held = capability_held();

	return held & CAPABILITY(CAP_SYS_ADMIN) || (held & needed) == needed;
}

const char *capability_advice(void)
{
	return capability_allows_loading_programs()
		       ? "CAP_BPF and CAP_PERFMON are there, but a user namespace, a container's "
			 "seccomp, an LSM or lockdown refuses: allow it there"
		       : "run as root, or with CAP_BPF and CAP_PERFMON";
}

/* The kernel drops ambient capabilities together with the inheritable ones. */
int capability_keep_only(u64 capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	int i, result = get_capabilities(data);

	if (result)
		return result;
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= capabilities >> 32 * i;
		data[i].effective &= capabilities >> 32 * i;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno
											    : 0;
}
