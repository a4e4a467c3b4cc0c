/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process that parses untrusted bytes for a parent that has privileges. The child is
 * confined (privilege/confine.h), so an attacker who takes over the child can only return wrong
 * answers. The parent opens files, sends the descriptors, and checks the answers.
 *
 * A request has a time limit, and ends when the process is interrupted (-EINTR). A child that has
 * died or has not answered in time is replaced at the next request, SANDBOX_STARTS_MAX - 1 times.
 */
#ifndef LIB_PRIVILEGE_SANDBOX_H
#define LIB_PRIVILEGE_SANDBOX_H

#include <stddef.h>
#include <sys/types.h>

#include "scalar.h"

#define SANDBOX_STARTS_MAX 8

struct sandbox;

/*
 * A function that runs in the child: it answers requests from the socket (privilege/message.h)
 * until the socket is closed.
 */
typedef void (*sandbox_service)(int socket);

/* Called in the child: ends the child. */
void sandbox_exit_child(void) __attribute__((noreturn));

/*
 * Starts a sandbox. Call it early: the child gets a copy of the memory that the process has at this
 * moment, and becomes user nobody only if this process still has the capabilities. The child may
 * use memory_limit() / `parts` bytes. 0 or -errno.
 */
int sandbox_start(sandbox_service service, u32 limit_ms, u32 parts, struct sandbox **out);
void sandbox_end(struct sandbox **sandbox);

/* Sets the time limit of later requests. */
void sandbox_set_time_limit(struct sandbox *sandbox, u32 limit_ms);

/* Returns the process id of the child; 0: no child is running. */
pid_t sandbox_pid(const struct sandbox *sandbox);

/*
 * Sends a request with open files. The time limit of the request starts. -EPIPE: the child has died
 * and was replaced too often; -ETIMEDOUT.
 */
int sandbox_send_request(struct sandbox *sandbox, const void *data, size_t bytes, const int *fds,
			 u32 count);

/*
 * Send more bytes of the request, and receive the answer. Each call transfers all bytes or returns
 * an error.
 */
int sandbox_send(struct sandbox *sandbox, const void *data, size_t bytes);
int sandbox_receive(struct sandbox *sandbox, void *data, size_t bytes);

/* Ends a child that has sent an invalid answer. */
void sandbox_end_child(struct sandbox *sandbox);

/*
 * Returns why a request failed, in words in which "it" stands for the file. `result` is the
 * request's result; a service returns -EFBIG if a file takes more memory than the service may use.
 */
const char *sandbox_reason_of_failure(int result);

/*
 * A function of the child that answers one request. The caller closes `files` (MESSAGE_FILES_MAX;
 * -1: no file was sent). A non-zero result ends the service.
 */
typedef int service_reply(int socket, const void *request, const int *files, const u64 *numbers);

/*
 * Serves requests until the other side closes the socket. A request has a fixed size, may have
 * files, and is followed by numbers. `count_at`: offset of a u32 in the request, the number of u64
 * that follow it.
 */
void service_run_request_loop(int socket, size_t request_bytes, size_t count_at,
			      service_reply *reply);

/* Sends an answer and the text that follows it. 0 or -errno. */
int service_send_answer(int socket, const void *answer, size_t answer_bytes, const char *text,
			size_t text_bytes);

#endif
