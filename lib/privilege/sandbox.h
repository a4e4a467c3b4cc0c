/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process that reads bytes which others have made, for a parent that has privileges: it is
 * confined (privilege/confine.h), so whoever takes it over by such bytes can only give wrong
 * answers. The parent opens what is to be read, sends it, and checks what comes back.
 *
 * A request has a time limit, and ends when the process is interrupted (-EINTR). A child that dies,
 * or does not answer in time, is replaced when the next request comes, SANDBOX_STARTS_MAX - 1
 * times.
 */
#ifndef LIB_PRIVILEGE_SANDBOX_H
#define LIB_PRIVILEGE_SANDBOX_H

#include <stddef.h>
#include <sys/types.h>

#include "scalar.h"

#define SANDBOX_STARTS_MAX 8

struct sandbox;

/* Runs in the child: answers requests from the socket (privilege/message.h) until it ends. */
typedef void (*sandbox_service)(int socket);

/* In the child: ends it. */
void sandbox_leave(void) __attribute__((noreturn));

/* Best early: the child has a copy of the memory of this moment, and is user nobody only if we may
 * still make it so. The child may take memory_limit() / `parts` bytes. */
int sandbox_start(sandbox_service service, u32 limit_ms, u32 parts, struct sandbox **out);
void sandbox_end(struct sandbox **sandbox);

/* Of the requests from now on. */
void sandbox_limit(struct sandbox *sandbox, u32 limit_ms);

/* 0: none runs. */
pid_t sandbox_pid(const struct sandbox *sandbox);

/* Sends a request, with open files of ours, and starts its time limit. -EPIPE: the child is gone
 * and may not be replaced once more; -ETIMEDOUT. */
int sandbox_request(struct sandbox *sandbox, const void *data, size_t bytes, const int *fds,
		    u32 count);

/* More of the request, and what comes back: all of the bytes. */
int sandbox_send(struct sandbox *sandbox, const void *data, size_t bytes);
int sandbox_receive(struct sandbox *sandbox, void *data, size_t bytes);

/* What it answered makes no sense: it is not to be asked any more. */
void sandbox_distrust(struct sandbox *sandbox);

/* Why something was not read, by the result of the request about it: words in which "it" stands for
 * what was to be read. A service says -EFBIG for what takes more memory than it may have. */
const char *sandbox_reason(int result);

/* The child's side of a sandbox: requests of a fixed size with files, followed by numbers. */
struct service {
	size_t request_bytes;
	size_t count_at; /* offset of the u32 in a request that counts the u64 behind the request */
	/* Answers a request. The caller closes `files` (MESSAGE_FILES_MAX, -1: not sent). Non-zero
	 * ends the service. */
	int (*reply)(int socket, const void *request, const int *files, const u64 *numbers);
};

/* Serves requests until the other side closes the socket. */
void service_run(int socket, const struct service *service);

/* Sends an answer, followed by its text. 0 or -errno. */
int service_answer(int socket, const void *answer, size_t answer_bytes, const char *text,
		   size_t text_bytes);

#endif
