/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/agent_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "privilege/capability.h"
#include "terminal/message.h"

#define END_TRY_MS 20

struct agent_child_kind {
	const char *what; /* name of the process in messages: "sender" */
	const char *comm;
	size_t state_bytes;
	u32 last_ms; /* milliseconds in which the child may send the rest at the end, before it is
			killed */
	/* Makes the two ends of the connection (a pipe or sockets). The first end is for the child.
	 * 0 or -errno. */
	int (*connect)(int ends[2]);
	/* The child's main function, which returns its exit status. */
	int (*run)(const void *options, int end, void *state);
};

__attribute__((noreturn)) static void run_child(const struct agent_child *child,
						const void *options, int end)
{
	prctl(PR_SET_NAME, child->kind->comm);
	/*
	 * Signals from a terminal or a service manager are handled by the recorder, which then
	 * closes its end.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (capability_keep_only(0)) {
		message("%s: privileges cannot be given up", child->kind->what);
		_exit(EXIT_FAILED);
	}
	_exit(child->kind->run(options, end, child->state));
}

static int start_child(struct agent_child *child, const struct agent_child_kind *kind,
		       const void *options)
{
	int ends[2], err;

	child->kind = kind;
	child->state = mmap(NULL, kind->state_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child->state == MAP_FAILED)
		child->state = NULL;
	err = child->state ? kind->connect(ends) : -ENOMEM;
	if (!err) {
		child->pid = fork();
		if (!child->pid) {
			close(ends[1]);
			run_child(child, options, ends[0]);
		}
		close(ends[0]);
		child->end = ends[1];
		if (child->pid > 0)
			return EXIT_DONE;
		close(ends[1]);
		child->pid = 0;
		err = -EAGAIN;
	}
	message("%s: %s", kind->what, strerror(-err));
	return EXIT_FAILED;
}

bool agent_child_runs(struct agent_child *child)
{
	if (child->pid && waitpid(child->pid, NULL, WNOHANG) != child->pid)
		return true;
	child->pid = 0;
	return false;
}

void agent_child_end(struct agent_child *child)
{
	u64 until;

	if (!child->pid)
		return;
	until = clock_ms() + child->kind->last_ms;
	close(child->end);
	while (agent_child_runs(child) && clock_ms() < until)
		poll(NULL, 0, END_TRY_MS);
	if (!child->pid)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	child->pid = 0;
}

void agent_child_clear(struct agent_child *child)
{
	agent_child_end(child);
	if (child->state)
		munmap(child->state, child->kind->state_bytes);
	child->state = NULL;
}

/*
 * The sender of batches. The recorder holds the writing end of a pipe. A byte in the pipe wakes the
 * sender. When the pipe is closed, the sender still sends the batches that the server accepts
 * immediately. If the recorder is started again, its sender waits until the earlier one has left
 * the spool.
 */

#define SENDER_LAST_MS 10000 /* milliseconds in which the sender may send the rest at the end */
#define GRACE_MS 2000	     /* milliseconds after SENDER_LAST_MS: an alarm ends the sender then */
#define TRY_MS 200
#define SPOOL_WAIT_MS 60000 /* milliseconds to wait for an earlier sender to leave the spool */

static void log_message(void *arg, const char *text)
{
	(void)arg;
	message("%s", text);
}

/* --- the sender, in its own process --- */

static int open_spool(const struct agent_sender_options *options, struct spool **spool)
{
	const struct spool_options spool_options = {.folder = options->spool,
						    .most_bytes = options->spool_bytes,
						    .end = SPOOL_DRAIN,
						    .say = log_message};
	u64 until = clock_ms() + SPOOL_WAIT_MS;
	struct stackmap_error error;
	int result = spool_open(&spool_options, spool, &error);

	while (result == -EBUSY && clock_ms() < until) {
		poll(NULL, 0, TRY_MS);
		result = spool_open(&spool_options, spool, &error);
	}
	return result ? print_error_message(&error) : EXIT_DONE;
}

/*
 * Waits at most `ms` milliseconds. A new batch wakes only an idle sender: after a failure the
 * sender waits for the whole time, to reduce the load of the server. False: the recorder has ended.
 */
static bool wait_for_work(int wake, u32 ms, bool is_idle)
{
	struct pollfd ready = {.fd = wake, .events = is_idle ? POLLIN : 0};
	char bytes[64];

	if (poll(&ready, 1, ms) <= 0)
		return true;
	if (ready.revents & POLLIN)
		return read(wake, bytes, sizeof(bytes)) != 0;
	return !(ready.revents & POLLHUP);
}

/* Sends the remaining batches. An alarm ends the process if a request hangs. */
static void send_remaining_batches(struct sender *sender, const struct sender_state *state)
{
	u64 until = clock_ms() + SENDER_LAST_MS;
	u32 ms;

	alarm((SENDER_LAST_MS + GRACE_MS) / 1000);
	do {
		bool others_wait;

		ms = sender_step(sender);
		others_wait =
			state->standing == SENDER_SENDING ||
			(state->standing == SENDER_REFUSED && state->suspects < state->waiting);
		if (!others_wait || clock_ms() + ms > until)
			return;
		poll(NULL, 0, ms);
	} while (clock_ms() < until);
}

static int run_sender(const void *arg, int wake, void *state)
{
	const struct agent_sender_options *options = arg;
	struct sender_options sender_options = {.url = options->url,
						.server = options->server,
						.host = options->host,
						.say = log_message};
	struct stackmap_error error;
	const struct sender_state *sender_state = state;
	struct sender *sender;
	struct spool *spool;
	u32 ms;

	if (open_spool(options, &spool))
		return EXIT_FAILED;
	sender_options.spool = spool;
	if (sender_open(&sender_options, state, &sender, &error)) {
		spool_close(&spool);
		return print_error_message(&error);
	}
	do
		ms = sender_step(sender);
	while (wait_for_work(wake, ms, sender_state->standing == SENDER_IDLE));
	send_remaining_batches(sender, state);
	sender_close(&sender);
	spool_close(&spool);
	return EXIT_DONE;
}

/* --- the recorder's side of the sender --- */

static int make_sender_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	return fcntl(ends[1], F_SETFL, O_NONBLOCK) ? -errno : 0;
}

int agent_sender_start(struct agent_child *child, const struct agent_sender_options *options)
{
	static const struct agent_child_kind kind = {
		.what = "sender",
		.comm = "stackmap-send",
		.state_bytes = sizeof(struct sender_state),
		.last_ms = SENDER_LAST_MS + 2 * GRACE_MS,
		.connect = make_sender_pipe,
		.run = run_sender,
	};

	return start_child(child, &kind, options);
}

/* A failed write is ignored: if the pipe is full, the sender wakes anyway. */
void agent_sender_wake(const struct agent_child *child)
{
	ssize_t written = write(child->end, "", 1);

	(void)written;
}

/*
 * The pusher of windows. The recorder passes windows as descriptors over a socket. Windows that are
 * in the socket are still sent when the recorder has ended or was killed.
 */

#define BEHIND_MOST 4	     /* most windows that may wait for the pusher, all in memory */
#define TIMEOUT_MS 30000     /* time limit of a request to the receiver, milliseconds */
#define PUSHER_LAST_MS 10000 /* milliseconds in which the pusher may send the rest at the end */

/* --- the pusher, in its own process --- */

/* Waits for the next window and returns its descriptor; -1: the recorder has ended. */
static int receive_window(int socket)
{
	char byte, room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = {&byte, 1};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = room,
				.msg_controllen = sizeof(room)};
	struct cmsghdr *control;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	control = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
	if (!control || control->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

static int run_pusher(const void *arg, int socket, void *state)
{
	const struct agent_pusher_options *options = arg;
	const struct export_options export = {.identity = *options->identity};
	struct agent_pusher_state *pushed = state;
	struct push_access access = *options->access;
	struct stackmap_error error;
	struct push *push;

	access.timeout_ms = TIMEOUT_MS;
	if (push_open(options->url, &access, &push, &error))
		return print_error_message(&error);
	for (int fd; (fd = receive_window(socket)) >= 0;) {
		struct trace_reader *reader = NULL;
		int err = trace_reader_open_fd(fd, "window", &reader, &error)
				  ?: push_recording(push, reader, &export, &error);

		trace_reader_close(&reader);
		if (err)
			message("agent: a window is lost, or in doubt: %s", error.message);
		else
			pushed->sent++;
		__atomic_add_fetch(&pushed->taken, 1, __ATOMIC_RELEASE);
	}
	push_close(&push);
	return EXIT_DONE;
}

/* --- the recorder's side of the pusher --- */

static int make_pusher_sockets(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? -errno : 0;
}

int agent_pusher_start(struct agent_child *child, const struct agent_pusher_options *options)
{
	static const struct agent_child_kind kind = {
		.what = "pusher",
		.comm = "stackmap-push",
		.state_bytes = sizeof(struct agent_pusher_state),
		.last_ms = PUSHER_LAST_MS,
		.connect = make_pusher_sockets,
		.run = run_pusher,
	};

	return start_child(child, &kind, options);
}

static int send_descriptor(int socket, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = {&byte, 1};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = room,
				.msg_controllen = sizeof(room)};
	struct cmsghdr *control = CMSG_FIRSTHDR(&header);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(control), &fd, sizeof(fd));
	return sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void agent_pusher_pass_window(struct agent_pusher *pusher, const struct agent_child *child, int fd)
{
	const struct agent_pusher_state *state = child->state;
	u32 taken = __atomic_load_n(&state->taken, __ATOMIC_ACQUIRE);
	bool lost = pusher->handed - taken >= BEHIND_MOST || send_descriptor(child->end, fd);

	close(fd);
	pusher->handed += !lost;
	pusher->dropped += lost;
	if (lost && !pusher->is_behind)
		message("agent: the receiver is too slow: windows are lost");
	pusher->is_behind = lost;
}
