/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The initial namespace has the same inode number on all kernels, and /proc shows the number: no
 * BPF program is needed to find this namespace.
 */
#include "capture/load/pid_namespace.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/program_set.h"
#include "error.h"

#include "pid_namespace_probe.skel.h"

/* Inode number of the initial PID namespace, PROC_PID_INIT_INO of the kernel. */
#define INITIAL_INODE 0xeffffffcU

static bool read_namespace_inode(u32 *inode)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status))
		return false;
	*inode = status.st_ino;
	return true;
}

/* True if /proc is mounted for the namespace of this process: the line NSpid has an id for each
 * namespace from that of /proc to that of the process. Kernels without namespaces have no such
 * line. */
static bool is_proc_of_namespace(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	bool is_ours = file != NULL;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:\t", 7))
			is_ours = !strchr(line + 7, '\t');
	if (file)
		fclose(file);
	return is_ours;
}

u32 pid_namespace_inode(void)
{
	u32 inode = 0;

	return read_namespace_inode(&inode) && inode != INITIAL_INODE ? inode : 0;
}

const char *pid_namespace_name_of_zero(const struct pid_namespace_id *pids)
{
	return pids->level ? "outside" : "swapper";
}

static int run_namespace_probe(struct pid_namespace_id *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct pid_namespace_probe_bpf *probe = pid_namespace_probe_bpf__open_and_load();
	int result;

	if (!probe)
		return -errno;
	result = probe->bss ? bpf_prog_test_run_opts(
				      bpf_program__fd(probe->progs.find_pid_namespace), &options)
			    : -ENOMEM;
	if (!result && probe->bss->found.level)
		*out = probe->bss->found;
	pid_namespace_probe_bpf__destroy(probe);
	return result;
}

int pid_namespace_find(struct pid_namespace_id *out, struct stackmap_error *error)
{
	struct statfs system;
	u32 inode;
	int result;

	if (statfs("/proc", &system) || system.f_type != PROC_SUPER_MAGIC)
		return error_set(error, ENOENT, "/proc is not there: mount -t proc proc /proc");
	if (!is_proc_of_namespace())
		return error_set(error, EOPNOTSUPP,
				 "/proc shows the tasks of another PID namespace: mount that of "
				 "this one (mount -t proc proc /proc; unshare --mount-proc)");
	if (read_namespace_inode(&inode) && inode == INITIAL_INODE)
		return 0;
	programs_keep_warning();
	result = run_namespace_probe(out);
	return result ? programs_set_error(-result, error) : 0;
}
