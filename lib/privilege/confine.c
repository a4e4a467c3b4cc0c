/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each step takes away something on its own, so that a gap in one is covered by others. The filter
 * comes last: it forbids the calls of the steps before.
 *
 * Refused calls fail and do not kill: a C library that tries something newer first goes on then.
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
#define ADDRESSES (4ULL << 30) /* bytes, files that are mapped included */
#define OWN_MAPPING                                                                                \
	(256 << 10) /* a block of memory so large goes back to the kernel when it is freed */
#define FILES 16

/* All between two that stay. */
static int close_between(int low, int high)
{
	return high - low > 1 && close_range(low + 1, high - 1, 0) ? -errno : 0;
}

static int close_others(int socket, int lifeline)
{
	int low = socket < lifeline ? socket : lifeline, high = socket + lifeline - low;
	int result = close_between(-1, low) ?: close_between(low, high);

	return result ?: close_range(high + 1, ~0U, 0) ? -errno : 0;
}

/* What other processes, or BPF programs, see too: the writing end of a recorder's maps. */
static int unmap_shared(void)
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

/* Signals for the whole terminal are the parent's business: it wants its answers still. */
static void ignore_terminal(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4) {
		/* As likely as others to go, then. */
	}
	close(fd);
}

/* Those that are lower stay. */
static int limit(int resource, u64 value)
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

/* What RLIMIT_DATA counts, as far as it is taken now. Bytes. */
static u64 data_held(void)
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

/* malloc() keeps the threshold once that is set; else it would raise the threshold and keep what a
 * large file took. */
static void give_back_large_blocks(void)
{
	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING);
}

static int limit_resources(u64 memory)
{
	return limit(RLIMIT_CORE, 0)
		       ?: limit(RLIMIT_CPU, CPU_SECONDS)
		       ?: limit(RLIMIT_DATA, data_held() + memory)
		       ?: limit(RLIMIT_AS, ADDRESSES)
		       ?: limit(RLIMIT_NOFILE, FILES)
		       ?: limit(RLIMIT_FSIZE, 0);
}

/* One that may not change its user stays who it is, without capabilities. */
static int become_nobody(void)
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
 * The kernel sends the signal of a parent's death with the parent's rights: to user nobody only
 * from one that has CAP_KILL. That of a file goes to who asked for it, with the rights of that
 * moment: so it comes from a pipe that the parent has the only other end of. Both are asked for
 * after the change of user, and before it is looked whether the parent still lives.
 */
static int end_with(int lifeline, pid_t parent)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -errno;
	if (fcntl(lifeline, F_SETOWN, getpid()) || fcntl(lifeline, F_SETSIG, SIGKILL) ||
	    fcntl(lifeline, F_SETFL, O_ASYNC))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

static int allow_plain(scmp_filter_ctx filter)
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

/* Memory that code could be put into is none that a parser needs. fstat() is newfstatat() with an
 * empty path; what it could tell of another path is no secret. libelf asks whether its file is
 * open. malloc_trim() gives back pages in the middle of the heap. */
static int allow_some(scmp_filter_ctx filter)
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

static int filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int result = filter ? allow_plain(filter) : -ENOMEM;

	result = result ?: allow_some(filter);
	result = result ?: seccomp_load(filter);
	seccomp_release(filter);
	return result;
}

int confine_files(int socket, pid_t parent)
{
	int result;

	ignore_terminal();
	give_back_large_blocks();
	result = unmap_shared() ?: close_others(socket, socket);
	if (!result && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		result = -errno;
	return result ?: getppid() == parent ? 0 : -ESRCH;
}

int confine(int socket, int lifeline, u64 memory, pid_t parent)
{
	ignore_terminal();
	give_back_large_blocks();
	be_first_to_go();
	return unmap_shared()
		       ?: close_others(socket, lifeline)
		       ?: limit_resources(memory)
		       ?: become_nobody()
		       ?: capability_keep(0)
		       ?: end_with(lifeline, parent)
		       ?: filter_calls();
}
