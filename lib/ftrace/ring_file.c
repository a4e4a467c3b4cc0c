/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ftrace/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "ftrace/batch.h"
#include "ftrace/file_service.h"
#include "privilege/sandbox.h"

#define MEMORY_PARTS 2
#define LIMIT_MS 30000 /* to open: the kernel's symbols are 100,000 lines */

struct ring_file {
	struct sandbox *sandbox;
	const char *path;
	u32 cpus;
	char name[FTRACE_NAME_BYTES_MAX + 1];
	u8 answer[FTRACE_BATCH_BYTES];
};

/* A request, the head of its answer, and at most `room` bytes behind the head. The result is not
 * that of the file. */
static int ask(struct ring_file *ring, const struct file_request *request, int file,
	       struct file_answer *head, void *to, u32 room)
{
	int err = sandbox_request(ring->sandbox, request, sizeof(*request), &file, file >= 0);

	err = err ?: sandbox_receive(ring->sandbox, head, sizeof(*head));
	if (!err && (head->bytes > room || head->result > 0))
		err = -EBADMSG;
	return err ?: sandbox_receive(ring->sandbox, to, head->bytes);
}

static int refused(const struct ring_file *ring, int err, const char *buffer,
		   struct stackmap_error *error)
{
	switch (err) {
	case -EINTR:
		return error_set(error, EINTR, "%s: interrupted", ring->path);
	case -ENOENT:
		return error_set(error, ENOENT, "%s: has no instance %s", ring->path, buffer ?: "");
	case -EPROTONOSUPPORT:
		return error_set(error, EPROTONOSUPPORT, "%s: of a 32-bit kernel", ring->path);
	case -ENOMEM:
		return error_set(error, ENOMEM, "%s: not enough memory", ring->path);
	case -EPIPE:
		return error_set(
			error, EBADMSG,
			"%s: the library that reads it (libtracecmd, libtraceevent) ended, in "
			"its sandbox: record the file again if it is damaged ('trace-cmd "
			"report' shows that), or try a newer version of the library",
			ring->path);
	case -ETIMEDOUT:
		return error_set(
			error, EBADMSG,
			"%s: the library that reads it (libtracecmd, libtraceevent) did not "
			"end in time and was ended: the file is damaged, or too large",
			ring->path);
	default:
		return error_set(error, EBADMSG, "%s: not a trace.dat of trace-cmd, or damaged",
				 ring->path);
	}
}

static int open_in_sandbox(struct ring_file *ring, int file, const char *buffer)
{
	struct file_request request = {.what = FILE_OPEN, .has_buffer = buffer != NULL};
	struct file_answer head;
	int err;

	if (buffer && strlen(buffer) >= sizeof(request.buffer))
		return -ENOENT;
	strcpy(request.buffer, buffer ?: "");
	err = sandbox_start(file_serve, LIMIT_MS, MEMORY_PARTS, &ring->sandbox);
	err = err ?: ask(ring, &request, file, &head, ring->answer, sizeof(ring->answer));
	err = err ?: head.result;
	if (!err)
		ring->cpus = head.cpus < FTRACE_CPUS_MAX ? head.cpus : FTRACE_CPUS_MAX;
	return err;
}

int ring_file_open(const char *path, const char *buffer, struct ring_file **out,
		   struct stackmap_error *error)
{
	struct ring_file *ring = calloc(1, sizeof(*ring));
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	if (file < 0 || !ring) {
		err = file < 0 ? errno : ENOMEM;
		free(ring);
		if (file >= 0)
			close(file);
		return error_set(error, err, "%s: %s", path, strerror(err));
	}
	ring->path = path;
	err = open_in_sandbox(ring, file, buffer);
	close(file);
	if (err) {
		refused(ring, err, buffer, error);
		ring_file_close(&ring);
	} else {
		*out = ring;
	}
	return err;
}

void ring_file_close(struct ring_file **ring)
{
	if (!*ring)
		return;
	sandbox_end(&(*ring)->sandbox);
	free(*ring);
	*ring = NULL;
}

u32 ring_file_cpus(const struct ring_file *ring)
{
	return ring->cpus;
}

int ring_file_each(struct ring_file *ring, struct ftrace_sink sink, struct stackmap_error *error)
{
	const struct file_request next = {.what = FILE_NEXT};
	struct file_answer head = {.bytes = 1};
	int err = 0, sunk = 0;

	while (!err && !sunk && head.bytes) {
		err = ask(ring, &next, -1, &head, ring->answer, sizeof(ring->answer));
		err = err ?: head.result;
		if (!err)
			sunk = ftrace_batch_read(ring->answer, head.bytes, sink);
	}
	if (err || sunk == -EBADMSG)
		return refused(ring, err ?: sunk, NULL, error);
	return sunk;
}

bool ring_file_symbol(struct ring_file *ring, u64 address, struct symbol *symbol)
{
	const struct file_request request = {.what = FILE_SYMBOL, .address = address};
	struct file_answer head;

	if (ask(ring, &request, -1, &head, ring->name, sizeof(ring->name) - 1) || head.result ||
	    !head.bytes)
		return false;
	ring->name[head.bytes] = '\0';
	*symbol = (struct symbol){.start = head.start, .size = head.size, .name = ring->name};
	return head.start <= address && address - head.start < head.size;
}
