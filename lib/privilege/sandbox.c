/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The child confines itself and reports the result before the parent sends any request.
 *
 * Without CAP_KILL the parent may not kill a process of user nobody. The child is therefore ended
 * by the lifeline: a pipe whose only writing end the parent has, so the child also ends when the
 * parent ends. A child that is in a system call that cannot be interrupted (a read of a file system
 * that does not answer) ends when the call returns; the parent does not wait for it.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"
#include "interrupt.h"
#include "limit.h"
#include "memory_limit.h"
#include "message.h"

#define STACK_BYTES (8UL << 20)

struct sandbox {
	sandbox_service service;
	u32 limit_ms;
	u64 memory; /* memory limit of the child, in bytes */
	pid_t pid;
	int socket;   /* the parent's end of the socket to the child; -1: no child is running */
	int lifeline; /* the writing end of the pipe that ends the child */
	u32 starts;
	u64 deadline; /* CLOCK_MONOTONIC time, ns, by which the request must be answered */
	/* process ids of ended children that are still zombies; 0: the entry is unused */
	pid_t ended[SANDBOX_STARTS_MAX];
};

static void start_deadline(struct sandbox *sandbox)
{
	sandbox->deadline = clock_ns(CLOCK_MONOTONIC) + sandbox->limit_ms * NS_PER_MS;
}

/* The arguments of serve_requests(), which runs in the child. */
static struct {
	sandbox_service service;
	int socket, lifeline;
	u64 memory; /* memory limit of the child, in bytes */
	pid_t parent;
} child;

/* AddressSanitizer does not know the child's stack, and would report an error at _exit(). */
static void __attribute__((no_sanitize_address)) serve_requests(void)
{
	int result = confine(child.socket, child.lifeline, child.memory, child.parent);

	memory_limit_of_this_process_set(child.memory);
	if (!message_send(child.socket, &result, sizeof(result), MESSAGE_NO_DEADLINE) && !result)
		child.service(child.socket);
	_exit(0);
}

/*
 * The thread that starts a sandbox may have a small stack, but parsers recurse. The child therefore
 * has a stack of its own, whose pages are allocated when they are used, with a guard page at its
 * low end.
 */
static void run_child_on_large_stack(void)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	ucontext_t context;

	if (stack != MAP_FAILED && !mprotect(stack, sysconf(_SC_PAGESIZE), PROT_NONE) &&
	    !getcontext(&context)) {
		context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK_BYTES};
		context.uc_link = NULL;
		makecontext(&context, serve_requests, 0);
		setcontext(&context);
	}
	serve_requests();
}

enum end { OF_PARENT, OF_CHILD };

static void close_both_descriptors(const int ends[2])
{
	close(ends[OF_PARENT]);
	close(ends[OF_CHILD]);
}

/* Makes the socket and the lifeline; the child gets the reading end of the lifeline. */
static int open_socket_and_lifeline(int socket[2], int lifeline[2])
{
	int pipe[2], result;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket))
		return -errno;
	if (!pipe2(pipe, O_CLOEXEC)) {
		lifeline[OF_CHILD] = pipe[0];
		lifeline[OF_PARENT] = pipe[1];
		return 0;
	}
	result = -errno;
	close_both_descriptors(socket);
	return result;
}

static int fork_child(struct sandbox *sandbox)
{
	pid_t parent = getpid(), pid;
	int socket[2], lifeline[2] = {-1, -1}, result = open_socket_and_lifeline(socket, lifeline);

	if (result)
		return result;
	pid = fork();
	if (!pid) {
		child.service = sandbox->service;
		child.socket = socket[OF_CHILD];
		child.lifeline = lifeline[OF_CHILD];
		child.memory = sandbox->memory;
		child.parent = parent;
		run_child_on_large_stack();
	}
	if (pid < 0) {
		result = -errno;
		close_both_descriptors(socket);
		close_both_descriptors(lifeline);
		return result;
	}
	close(socket[OF_CHILD]);
	close(lifeline[OF_CHILD]);
	sandbox->pid = pid;
	sandbox->socket = socket[OF_PARENT];
	sandbox->lifeline = lifeline[OF_PARENT];
	return 0;
}

/* Reaps those killed children that the kernel has ended by now. */
static void reap_zombies(struct sandbox *sandbox)
{
	for (u32 i = 0; i < sandbox->starts; i++)
		if (sandbox->ended[i] && waitpid(sandbox->ended[i], NULL, WNOHANG))
			sandbox->ended[i] = 0;
}

static void kill_sandbox_child(struct sandbox *sandbox)
{
	if (sandbox->socket < 0)
		return;
	close(sandbox->lifeline);
	close(sandbox->socket);
	kill(sandbox->pid, SIGKILL);
	sandbox->ended[sandbox->starts - 1] = sandbox->pid;
	reap_zombies(sandbox);
	sandbox->socket = -1;
	sandbox->pid = 0;
}

/* Ends the child if a transfer has failed, because the position in its stream is unknown. */
static int end_child_after_failure(struct sandbox *sandbox, int result)
{
	if (result)
		kill_sandbox_child(sandbox);
	return result;
}

static int start_child(struct sandbox *sandbox)
{
	int result, confined;

	if (sandbox->starts == SANDBOX_STARTS_MAX)
		return -EPIPE;
	if (interrupted())
		return -EINTR;
	reap_zombies(sandbox);
	sandbox->starts++;
	result = fork_child(sandbox);
	if (result)
		return result;
	start_deadline(sandbox);
	result = sandbox_receive(sandbox, &confined, sizeof(confined));
	return result ?: end_child_after_failure(sandbox, confined);
}

void sandbox_exit_child(void)
{
	_exit(0);
}

int sandbox_start(sandbox_service service, u32 limit_ms, u32 parts, struct sandbox **out)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	int result;

	if (!sandbox)
		return -ENOMEM;
	*sandbox = (struct sandbox){.service = service,
				    .limit_ms = limit_ms,
				    .memory = memory_limit() / parts,
				    .socket = -1};
	result = start_child(sandbox);
	if (result)
		sandbox_end(&sandbox);
	else
		*out = sandbox;
	return result;
}

void sandbox_end(struct sandbox **sandbox)
{
	if (!*sandbox)
		return;
	kill_sandbox_child(*sandbox);
	free(*sandbox);
	*sandbox = NULL;
}

void sandbox_set_time_limit(struct sandbox *sandbox, u32 limit_ms)
{
	sandbox->limit_ms = limit_ms;
}

pid_t sandbox_pid(const struct sandbox *sandbox)
{
	return sandbox->pid;
}

/* Starts the child if the last one has ended, and sends the request. */
static int send_request(struct sandbox *sandbox, const void *data, size_t bytes, const int *fds,
			u32 count)
{
	int result = sandbox->socket < 0 ? start_child(sandbox) : 0;

	if (result)
		return result;
	start_deadline(sandbox);
	return end_child_after_failure(sandbox, message_send_files(sandbox->socket, data, bytes,
								   fds, count, sandbox->deadline));
}

int sandbox_send_request(struct sandbox *sandbox, const void *data, size_t bytes, const int *fds,
			 u32 count)
{
	int result = send_request(sandbox, data, bytes, fds, count);

	return result == -EPIPE ? send_request(sandbox, data, bytes, fds, count) : result;
}

int sandbox_send(struct sandbox *sandbox, const void *data, size_t bytes)
{
	if (sandbox->socket < 0)
		return -EPIPE;
	return end_child_after_failure(
		sandbox, message_send(sandbox->socket, data, bytes, sandbox->deadline));
}

int sandbox_receive(struct sandbox *sandbox, void *data, size_t bytes)
{
	if (sandbox->socket < 0)
		return -EPIPE;
	return end_child_after_failure(
		sandbox, message_receive(sandbox->socket, data, bytes, sandbox->deadline));
}

void sandbox_end_child(struct sandbox *sandbox)
{
	kill_sandbox_child(sandbox);
}

#define TOO_LARGE "it takes too much memory to read"

/* Returns why a request failed. If the child has ended at a limit of memory, this process may have
 * no memory left either. */
const char *sandbox_reason_of_failure(int result)
{
	switch (result) {
	case -ETIMEDOUT:
		return "it takes too long to read";
	case -EFBIG:
		return TOO_LARGE;
	case -EPIPE:
	case -EBADMSG:
		return can_map_memory_below_limits() ? "its reader failed on it" : TOO_LARGE;
	default:
		return strerror(-result);
	}
}

void service_run_request_loop(int socket, size_t request_bytes, size_t count_at,
			      service_reply *reply)
{
	void *request = malloc(request_bytes);
	int result = request ? 0 : -ENOMEM;

	while (!result) {
		int files[MESSAGE_FILES_MAX];
		u64 *numbers = NULL;
		u32 count = 0;

		result = message_receive_files(socket, request, request_bytes, files,
					       MESSAGE_NO_DEADLINE);
		if (!result) {
			count = *(const u32 *)((const char *)request + count_at);
			numbers = calloc(count + 1UL, sizeof(*numbers));
			result = numbers ? 0 : -ENOMEM;
		}
		result = result
				 ?: message_receive(socket, numbers, count * sizeof(*numbers),
						    MESSAGE_NO_DEADLINE);
		result = result ?: reply(socket, request, files, numbers);
		free(numbers);
		message_close_files(files);
		malloc_trim(0); /* malloc_trim() gives the memory that the request took back to the
				   kernel */
	}
	free(request);
}

int service_send_answer(int socket, const void *answer, size_t answer_bytes, const char *text,
			size_t text_bytes)
{
	return message_send(socket, answer, answer_bytes, MESSAGE_NO_DEADLINE)
		       ?: message_send(socket, text, text_bytes, MESSAGE_NO_DEADLINE);
}
