/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sandboxed child tries what an attacker inside it would try. Each try is a request with a
 * number, answered by an errno. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege/capability.h"
#include "privilege/memory_limit.h"
#include "privilege/message.h"
#include "privilege/sandbox.h"
#include "unit_test.h"

#define LIMIT_MS 60000
#define PARTS 2
#define LOWERED (128UL << 20)

static int opened;

static int try_open(void)
{
	return open("/etc/passwd", O_RDONLY);
}

static int try_write(void)
{
	return write(opened, "", 1);
}

static int try_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static int try_exec(void)
{
	char *const arguments[] = {"/bin/true", NULL};

	return execv(arguments[0], arguments);
}

static int try_fork(void)
{
	return fork();
}

static int try_kill(void)
{
	return kill(getppid(), 0);
}

static int try_ptrace(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), 0, 0);
}

static int try_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

static int try_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static int try_traceable(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int try_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int map(int flags)
{
	return mmap(NULL, 4096, PROT_READ, flags, opened, 0) == MAP_FAILED ? -1 : 0;
}

static int try_shared_memory(void)
{
	return map(MAP_SHARED);
}

static int try_validated_shared_memory(void)
{
	return map(MAP_SHARED_VALIDATE);
}

static int try_stat(void)
{
	struct stat status;

	return syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &status, 0);
}

static int (*const refused[])(void) = {
	try_open,	   try_write,
	try_socket,	   try_exec,
	try_fork,	   try_kill,
	try_ptrace,	   try_bpf,
	try_stat,	   try_namespace,
	try_traceable,	   try_code,
	try_shared_memory, try_validated_shared_memory,
};

#define REFUSED (sizeof(refused) / sizeof(refused[0]))

static int read_opened(void)
{
	char byte;

	return pread(opened, &byte, 1, 0) == 1 ? 0 : -1;
}

static int map_opened(void)
{
	return map(MAP_PRIVATE);
}

static int take_memory(void)
{
	char *memory = malloc(64 << 20);

	if (!memory)
		return -1;
	memory[0] = 1;
	free(memory);
	return 0;
}

static int take_all_memory(void)
{
	return mmap(NULL, 5ULL << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int take_part(void)
{
	return mmap(NULL, LOWERED / PARTS * 3 / 4, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		       ? -1
		       : 0;
}

static volatile int *shared;

static int read_shared(void)
{
	return *shared;
}

static int abort_in_sandbox(void)
{
	abort();
}

static int never_end(void)
{
	for (;;)
		(void)*(volatile int *)&opened;
	return 0;
}

enum {
	READ_OPENED = REFUSED,
	MAP_OPENED,
	TAKE_MEMORY,
	TAKE_ALL_MEMORY,
	TAKE_PART,
	READ_SHARED,
	DIE,
	NEVER_END
};

static int (*const others[])(void) = {read_opened, map_opened,	take_memory,	  take_all_memory,
				      take_part,   read_shared, abort_in_sandbox, never_end};

/* Receives an open file and the number of the try, and sends the errno. */
static void serve(int socket)
{
	int files[MESSAGE_FILES_MAX], number;

	while (!message_receive_files(socket, &number, sizeof(number), files,
				      MESSAGE_NO_DEADLINE)) {
		int (*const *tries)(void) = (size_t)number < REFUSED ? refused : others - REFUSED;

		opened = files[0];
		errno = 0;
		number = tries[number]() < 0 ? errno : 0;
		close(opened);
		if (message_send(socket, &number, sizeof(number), MESSAGE_NO_DEADLINE))
			return;
	}
}

static int set_up(void **state)
{
	return sandbox_start(serve, LIMIT_MS, PARTS, (struct sandbox **)state);
}

static int tear_down(void **state)
{
	sandbox_end((struct sandbox **)state);
	return 0;
}

static int request_try_in_sandbox(struct sandbox *sandbox, int number)
{
	int file = open("/proc/self/exe", O_RDWR), answer = -1, result;

	if (file < 0)
		file = open("/proc/self/exe", O_RDONLY);
	result = sandbox_send_request(sandbox, &number, sizeof(number), &file, 1);
	result = result ?: sandbox_receive(sandbox, &answer, sizeof(answer));
	close(file);
	return result ?: answer;
}

TEST(other_system_calls_are_refused, set_up, tear_down)
{
	for (size_t i = 0; i < REFUSED; i++) {
		int answer = request_try_in_sandbox(*state, i);

		if (answer != EPERM)
			fail_msg("try %zu: %s", i, strerror(abs(answer)));
	}
}

TEST(the_needed_system_calls_work, set_up, tear_down)
{
	assert_int_equal(request_try_in_sandbox(*state, READ_OPENED), 0);
	assert_int_equal(request_try_in_sandbox(*state, MAP_OPENED), 0);
	assert_int_equal(request_try_in_sandbox(*state, TAKE_MEMORY), 0);
	assert_int_equal(request_try_in_sandbox(*state, TAKE_ALL_MEMORY), ENOMEM);
}

TEST(shared_memory_is_gone)
{
	struct sandbox *sandbox;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	assert_int_equal(sandbox_start(serve, LIMIT_MS, PARTS, &sandbox), 0);
	assert_int_equal(request_try_in_sandbox(sandbox, READ_OPENED), 0);
	assert_int_equal(request_try_in_sandbox(sandbox, READ_SHARED), -EPIPE);
	sandbox_end(&sandbox);
	assert_int_equal(*shared, 0);
	munmap((void *)shared, 4096);
}

static void status_line(pid_t pid, const char *name, char *value)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	*value = 0;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			sscanf(line + strlen(name) + 1, " %255[^\n]", value);
	fclose(file);
}

static void assert_status(pid_t pid, const char *name, const char *expected)
{
	char value[256];

	status_line(pid, name, value);
	assert_string_equal(value, expected);
}

TEST(the_kernel_shows_the_restrictions, set_up, tear_down)
{
	pid_t pid = sandbox_pid(*state);

	assert_status(pid, "CapEff", "0000000000000000");
	assert_status(pid, "CapPrm", "0000000000000000");
	assert_status(pid, "CapInh", "0000000000000000");
	assert_status(pid, "CapAmb", "0000000000000000");
	assert_status(pid, "NoNewPrivs", "1");
	assert_status(pid, "Seccomp", "2");
	if (!geteuid())
		assert_status(pid, "Uid", "65534\t65534\t65534\t65534");
}

/* Kills the child and waits for its death. */
static void kill_child(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
}

TEST(a_dead_sandbox_is_replaced, set_up, tear_down)
{
	pid_t pid = sandbox_pid(*state);

	assert_int_equal(request_try_in_sandbox(*state, DIE), -EPIPE);
	assert_int_equal(sandbox_pid(*state), 0);
	assert_int_equal(request_try_in_sandbox(*state, READ_OPENED), 0);
	assert_int_not_equal(sandbox_pid(*state), pid);
	kill_child(sandbox_pid(*state));
	assert_int_equal(request_try_in_sandbox(*state, READ_OPENED), 0);
}

TEST(a_sandbox_is_not_replaced_for_ever, set_up, tear_down)
{
	for (int i = 0; i < SANDBOX_STARTS_MAX; i++)
		assert_int_equal(request_try_in_sandbox(*state, DIE), -EPIPE);
	assert_int_equal(request_try_in_sandbox(*state, READ_OPENED), -EPIPE);
	assert_int_equal(sandbox_pid(*state), 0);
}

/* A process without capabilities, like a recorder: starts a sandbox, reports its pid, and gives it
 * endless work. */
static void run_as_recorder_with_sandbox(int told)
{
	struct sandbox *sandbox = NULL;
	int number = NEVER_END;
	pid_t pid;

	if (sandbox_start(serve, LIMIT_MS, PARTS, &sandbox) || capability_keep_only(0) ||
	    sandbox_send_request(sandbox, &number, sizeof(number), NULL, 0))
		_exit(1);
	pid = sandbox_pid(sandbox);
	if (write(told, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	if (sandbox_receive(sandbox, &number, sizeof(number)))
		pause();
	_exit(1);
}

/* This process is the subreaper of orphans, so it learns how they end. */
static pid_t start_recorder(pid_t *sandbox)
{
	int told[2];
	pid_t pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		run_as_recorder_with_sandbox(told[1]);
	close(told[1]);
	assert_int_equal(read(told[0], sandbox, sizeof(*sandbox)), sizeof(*sandbox));
	close(told[0]);
	return pid;
}

/* Otherwise the sandbox would end after a minute of CPU time. */
static void assert_was_killed(pid_t pid)
{
	struct rusage usage;
	int status;

	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_true(usage.ru_utime.tv_sec < 30);
}

TEST(the_sandbox_dies_with_a_killed_recorder)
{
	pid_t sandbox, recorder = start_recorder(&sandbox);

	assert_int_equal(kill(recorder, SIGKILL), 0);
	assert_int_equal(waitpid(recorder, NULL, 0), recorder);
	assert_was_killed(sandbox);
}

/* Runs in a child with the rights of a recorder. */
static int time_out_sandbox_without_capabilities(void)
{
	struct sandbox *sandbox = NULL;
	siginfo_t info;
	pid_t pid;

	if (sandbox_start(serve, 1000, PARTS, &sandbox) || capability_keep_only(0))
		return 1;
	pid = sandbox_pid(sandbox);
	if (request_try_in_sandbox(sandbox, NEVER_END) != -ETIMEDOUT)
		return 2;
	while (!waitid(P_PID, pid, &info, WEXITED | WNOWAIT) && info.si_pid != pid)
		;
	return request_try_in_sandbox(sandbox, READ_OPENED) ? 3 : 0;
}

/* The process ends only when the sandbox has. */
TEST(an_abandoned_sandbox_is_killed)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(time_out_sandbox_without_capabilities());
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	assert_true(usage.ru_utime.tv_sec < 30);
}

static void assert_limits(pid_t pid, const char *name, u64 soft, u64 hard)
{
	unsigned long long found_soft = 0, found_hard = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), " %llu %llu", &found_soft, &found_hard);
	fclose(file);
	assert_int_equal(found_soft, soft);
	assert_int_equal(found_hard, hard);
}

static void set_limits(u64 seconds, u64 seconds_max, u64 bytes, u64 bytes_max)
{
	assert_int_equal(setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds_max}), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes_max}), 0);
}

/* Lower limits stay, soft and hard ones, as the user may have set them. */
TEST(limits_are_only_lowered)
{
	const u64 bytes = 3900000ULL << 10;
	struct rlimit seconds_before, bytes_before;
	struct sandbox *sandbox;

	getrlimit(RLIMIT_CPU, &seconds_before);
	getrlimit(RLIMIT_AS, &bytes_before);
	if (seconds_before.rlim_cur < 60 || bytes_before.rlim_cur < 4ULL << 30) {
		printf("skip: this process has lower limits\n");
		skip();
	}
	set_limits(30, seconds_before.rlim_max, bytes, bytes_before.rlim_max);
	assert_int_equal(sandbox_start(serve, LIMIT_MS, PARTS, &sandbox), 0);
	set_limits(seconds_before.rlim_cur, seconds_before.rlim_max, bytes_before.rlim_cur,
		   bytes_before.rlim_max);
	assert_int_equal(request_try_in_sandbox(sandbox, READ_OPENED), 0);
	assert_limits(sandbox_pid(sandbox), "Max cpu time", 30, 60);
	assert_limits(sandbox_pid(sandbox), "Max address space", bytes, 4ULL << 30);
	sandbox_end(&sandbox);
}

/* Memory that was taken before counts, so two pieces of three quarters are too much. */
TEST(a_sandbox_may_take_its_part_of_the_limit)
{
	struct sandbox *sandbox;

	memory_limit_lower(LOWERED);
	assert_int_equal(sandbox_start(serve, LIMIT_MS, PARTS, &sandbox), 0);
	assert_int_equal(request_try_in_sandbox(sandbox, TAKE_PART), 0);
	assert_int_equal(request_try_in_sandbox(sandbox, TAKE_PART), ENOMEM);
	assert_int_equal(request_try_in_sandbox(sandbox, READ_OPENED), 0);
	sandbox_end(&sandbox);
}

TEST(a_slow_request_ends_the_sandbox)
{
	struct sandbox *sandbox;

	assert_int_equal(sandbox_start(serve, 1000, PARTS, &sandbox), 0);
	assert_int_equal(request_try_in_sandbox(sandbox, NEVER_END), -ETIMEDOUT);
	assert_int_equal(request_try_in_sandbox(sandbox, READ_OPENED), 0);
	sandbox_end(&sandbox);
}

TEST(distrusted, set_up, tear_down)
{
	pid_t pid = sandbox_pid(*state);

	sandbox_end_child(*state);
	assert_int_equal(sandbox_receive(*state, &pid, sizeof(pid)), -EPIPE);
	assert_int_equal(request_try_in_sandbox(*state, READ_OPENED), 0);
}
