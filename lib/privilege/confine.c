/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of the confinement are independent, so if one step has a gap, the other steps still
 * protect. The system call filter is installed last, because it forbids the system calls of the
 * other steps.
 *
 * Refused system calls fail instead of killing the process: a C library that tries a newer system
 * call first then uses an older one.
 */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <malloc.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capability.h"

#define NOBODY 65534
#define CPU_SECONDS 60
#define ADDRESSES (4ULL << 30) /* limit of the address space, in bytes, with mapped files */
/*
 * malloc() maps blocks of at least this many bytes separately, so that they are unmapped when
 * freed.
 */
#define OWN_MAPPING (256 << 10)
#define FILES 16

/* Closes the descriptors between two descriptors, which stay open. */
static int close_descriptors_between(int low, int high)
{
	return high - low > 1 && close_range(low + 1, high - 1, 0) ? -errno : 0;
}

static int close_other_descriptors(int socket, int lifeline)
{
	int low = socket < lifeline ? socket : lifeline, high = socket + lifeline - low;
	int result = close_descriptors_between(-1, low) ?: close_descriptors_between(low, high);

	return result ?: close_range(high + 1, ~0U, 0) ? -errno : 0;
}

/*
 * Unmaps memory that is shared with other processes or BPF programs, such as the maps of a
 * recorder.
 */
static int unmap_shared_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char *line = NULL, kind;
	size_t room = 0;
	int result = 0;

	if (!maps)
		return -errno;
	while (!result && getline(&line, &room, maps) > 0)
		if (sscanf(line, "%lx-%lx %*c%*c%*c%c", &start, &end, &kind) == 3 && kind == 's')
			result = munmap((void *)start, end - start) ? -errno : 0;
	free(line);
	fclose(maps);
	return result;
}

/*
 * A terminal sends its signals to all processes of the group. The parent handles them, and still
 * needs the answers of this process.
 */
static void ignore_terminal_signals(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes this process the first victim of the OOM killer. */
static void make_first_victim_of_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4) {
		/* If this step fails, the OOM killer chooses this process no sooner than others. */
	}
	close(fd);
}

/* Lowers a resource limit. A limit that is lower already stays as it is. */
static int lower_resource_limit(int resource, u64 value)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits))
		return -errno;
	if (limits.rlim_max > value)
		limits.rlim_max = value;
	if (limits.rlim_cur > value)
		limits.rlim_cur = value;
	return setrlimit(resource, &limits) ? -errno : 0;
}

/* The memory in bytes that the process has now and that RLIMIT_DATA counts. */
static u64 current_data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A process that may not change its user keeps its user, but has no capabilities. */
static int change_to_user_nobody(void)
{
	u64 held = capability_held(), needed = CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID);

	if ((held & needed) != needed)
		return 0;
	return setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			       setresuid(NOBODY, NOBODY, NOBODY)
		       ? -errno
		       : 0;
}

/*
 * Ends this process with its parent. The kernel sends PR_SET_PDEATHSIG with the rights of the
 * parent, so user nobody gets the signal only from a parent with CAP_KILL. The signal of a
 * descriptor (F_SETOWN) is sent with the rights of the process that has requested it. It is
 * therefore requested for a pipe whose other end only the parent has. Both requests are made after
 * the change of user, and before the check that the parent still exists.
 */
static int set_death_signal_of_parent(int lifeline, pid_t parent)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -errno;
	if (fcntl(lifeline, F_SETOWN, getpid()) || fcntl(lifeline, F_SETSIG, SIGKILL) ||
	    fcntl(lifeline, F_SETFL, O_ASYNC))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

static int allow_system_calls_in_filter(scmp_filter_ctx filter)
{
	static const int calls[] = {
		SCMP_SYS(read),		SCMP_SYS(pread64), SCMP_SYS(lseek),   SCMP_SYS(close),
		SCMP_SYS(dup),		SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(fstat),
		SCMP_SYS(brk),		SCMP_SYS(munmap),  SCMP_SYS(mremap),  SCMP_SYS(exit_group),
		SCMP_SYS(rt_sigreturn),
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !result; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return result;
}

/*
 * Allows system calls with restricted arguments: mmap() of private memory that is not executable;
 * newfstatat() with an empty path, which is fstat(); fcntl(F_GETFL), by which libelf checks its
 * file; madvise(MADV_DONTNEED), by which malloc_trim() frees pages in the middle of the heap.
 */
static int allow_calls_with_checked_arguments(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_TYPE, MAP_PRIVATE))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
					   SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
					   SCMP_A1(SCMP_CMP_EQ, F_GETFL))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
					   SCMP_A2(SCMP_CMP_EQ, MADV_DONTNEED));
}

static int install_call_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int result = filter ? allow_system_calls_in_filter(filter) : -ENOMEM;

	result = result ?: allow_calls_with_checked_arguments(filter);
	result = result ?: seccomp_load(filter);
	seccomp_release(filter);
	return result;
}

int confine_file_worker_process(int socket, pid_t parent)
{
	int result;

	ignore_terminal_signals();
	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING); /* malloc() raises its threshold by itself, unless
						   the threshold was set explicitly */
	result = unmap_shared_memory() ?: close_other_descriptors(socket, socket);
	if (!result && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		result = -errno;
	return result ?: getppid() == parent ? 0 : -ESRCH;
}

int confine(int socket, int lifeline, u64 memory, pid_t parent)
{
	ignore_terminal_signals();
	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING); /* malloc() raises its threshold by itself, unless
						   the threshold was set explicitly */
	make_first_victim_of_oom_killer();
	return unmap_shared_memory()
		       ?: close_other_descriptors(socket, lifeline)
		       ?: lower_resource_limit(RLIMIT_CORE, 0)
		       ?: lower_resource_limit(RLIMIT_CPU, CPU_SECONDS)
		       ?: lower_resource_limit(RLIMIT_DATA, current_data_bytes() + memory)
		       ?: lower_resource_limit(RLIMIT_AS, ADDRESSES)
		       ?: lower_resource_limit(RLIMIT_NOFILE, FILES)
		       ?: lower_resource_limit(RLIMIT_FSIZE, 0)
		       ?: change_to_user_nobody()
		       ?: capability_keep_only(0)
		       ?: set_death_signal_of_parent(lifeline, parent)
		       ?: install_call_filter();
}
