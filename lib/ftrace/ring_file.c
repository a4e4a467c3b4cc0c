/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ftrace/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd.h>
#include <unistd.h>

#include "error.h"
#include "ftrace/entry.h"
#include "privilege/message.h"
#include "privilege/sandbox.h"
#include "scalar.h"

#define MEMORY_PARTS 2
/* time limit for an answer of the sandbox; the list of kernel symbols may have 100,000 lines */
#define LIMIT_MS 30000

/*
 * trace-cmd's library parses the file in a sandbox. The first request is FILE_OPEN, with the file
 * and the name of the instance. An answer is a struct file_answer and `bytes` bytes that follow:
 *
 *   FILE_OPEN   no bytes
 *   FILE_NEXT   a batch (ftrace/entry.h); an empty batch is the end
 *   FILE_SYMBOL the name of the function at `address`
 *
 * The library passes records to a callback. When a batch is full, the callback waits for the next
 * request.
 */

#define FILE_BUFFER_NAME_BYTES 256

enum file_what { FILE_OPEN, FILE_NEXT, FILE_SYMBOL };

struct file_request {
	u32 what;
	u32 has_buffer;
	u64 address;
	char buffer[FILE_BUFFER_NAME_BYTES];
};

struct file_answer {
	s32 result; /* result of the request: 0 or -errno */
	u32 bytes;  /* number of bytes that follow the answer; at most FTRACE_BATCH_BYTES */
	u32 cpus;
	u32 reserved;
	u64 start, size; /* address and size of the function */
};

struct file_service {
	int socket;
	struct tracecmd_input *input, *buffer;
	struct ftrace_decoder *decoder;
	bool has_records;
	u32 batch_bytes;
	u8 batch[FTRACE_BATCH_BYTES];
};

static int receive_request(struct file_service *service, struct file_request *request)
{
	return message_receive(service->socket, request, sizeof(*request), MESSAGE_NO_DEADLINE);
}

static int send_answer(struct file_service *service, struct file_answer head, const void *data)
{
	return message_send(service->socket, &head, sizeof(head), MESSAGE_NO_DEADLINE)
		       ?: message_send(service->socket, data, head.bytes, MESSAGE_NO_DEADLINE);
}

static int send_symbol(struct file_service *service, u64 address)
{
	const char *name = NULL;
	unsigned long long start = 0;
	unsigned long size = 0;
	struct file_answer head = {};

	if (tep_find_function_info(tracecmd_get_tep(service->input), address, &name, &start,
				   &size) <= 0 ||
	    !name)
		head.result = -ENOENT;
	else
		head = (struct file_answer){.bytes = (u32)strnlen(name, FTRACE_NAME_BYTES_MAX),
					    .start = start,
					    .size = size};
	return send_answer(service, head, name);
}

/* Waits for the next request for entries, and answers it with the batch. Requests for symbols that
 * come before are answered, too. */
static int send_batch(struct file_service *service)
{
	struct file_request request;
	int err = receive_request(service, &request);

	while (!err && request.what == FILE_SYMBOL)
		err = send_symbol(service, request.address) ?: receive_request(service, &request);
	if (!err && request.what != FILE_NEXT)
		err = -EINVAL;
	err = err
		      ?: send_answer(service, (struct file_answer){.bytes = service->batch_bytes},
				     service->batch);
	service->batch_bytes = 0;
	return err;
}

static int add_entry_to_batch(void *arg, const struct ftrace_entry *entry, const void *payload)
{
	struct file_service *service = arg;
	u8 *batch = service->batch;
	int err;

	if (ftrace_batch_put(batch, &service->batch_bytes, entry, payload))
		return 0;
	err = send_batch(service);
	return err ?: ftrace_batch_put(batch, &service->batch_bytes, entry, payload) ? 0 : -E2BIG;
}

static int decode_record(struct tracecmd_input *input, struct tep_record *record, int cpu,
			 void *arg)
{
	struct file_service *service = arg;

	(void)input;
	service->has_records = true;
	return ftrace_decode(service->decoder, record, (u32)cpu);
}

static int read_events_of_buffer_instance(struct file_service *service,
					  struct tracecmd_input *buffer)
{
	return buffer ? tracecmd_iterate_events(buffer, NULL, 0, decode_record, service) : -ENOENT;
}

static int open_trace_input(struct file_service *service, int file,
			    const struct file_request *request)
{
	struct tep_handle *formats;
	int i;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	service->input = tracecmd_open_fd(file, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!service->input)
		return -EBADMSG;
	formats = tracecmd_get_tep(service->input);
	if (tep_get_long_size(formats) != sizeof(u64))
		return -EPROTONOSUPPORT;
	if (request->has_buffer) {
		for (i = 0; i < tracecmd_buffer_instances(service->input); i++)
			if (!strcmp(tracecmd_buffer_instance_name(service->input, i),
				    request->buffer))
				break;
		if (i == tracecmd_buffer_instances(service->input))
			return -ENOENT;
		service->buffer = tracecmd_buffer_instance_handle(service->input, i);
		if (!service->buffer)
			return -ENOENT;
	}
	return ftrace_decoder_create(formats, add_entry_to_batch, service, &service->decoder);
}

/* Answers the requests after the last batch: an empty batch or the error that ended the entries,
 * and symbols. */
static void serve_last_requests(struct file_service *service, int result)
{
	struct file_request request;
	int err = receive_request(service, &request);

	while (!err) {
		if (request.what == FILE_SYMBOL)
			err = send_symbol(service, request.address);
		else
			err = send_answer(service, (struct file_answer){.result = result}, NULL);
		err = err ?: receive_request(service, &request);
	}
}

/* Serves requests until the other side closes the socket. The memory is freed when the process
 * ends.
 */
static void serve_trace_file(int socket)
{
	struct file_service *service = calloc(1, sizeof(*service));
	struct file_answer opened = {};
	struct file_request request;
	int files[MESSAGE_FILES_MAX], err;

	if (!service)
		return;
	service->socket = socket;
	if (message_receive_files(socket, &request, sizeof(request), files, MESSAGE_NO_DEADLINE))
		return;
	request.buffer[sizeof(request.buffer) - 1] = '\0';
	opened.result = open_trace_input(service, files[0], &request);
	if (!opened.result)
		opened.cpus = (u32)tep_get_cpus(tracecmd_get_tep(service->input));
	if (send_answer(service, opened, NULL) || opened.result)
		return;
	/* Sends all batches; serve_last_requests() then sends the empty batch that ends them. */
	err = read_events_of_buffer_instance(service,
					     request.has_buffer ? service->buffer : service->input);
	if (!err && !service->has_records && !request.has_buffer &&
	    tracecmd_buffer_instances(service->input) == 1)
		err = read_events_of_buffer_instance(
			service, tracecmd_buffer_instance_handle(service->input, 0));
	if (!err && service->batch_bytes)
		err = send_batch(service);
	serve_last_requests(service, err < 0 && err != -ENOENT ? -EBADMSG : 0);
}

struct ring_file {
	struct sandbox *sandbox;
	const char *path;
	u32 cpus;
	char name[FTRACE_NAME_BYTES_MAX + 1];
	u8 answer[FTRACE_BATCH_BYTES];
};

/* Sends a request, and receives the head of the answer and at most `room` bytes that follow it.
 * Returns errors of the sandbox; errors of the file are in head->result. */
static int query_sandbox(struct ring_file *ring, const struct file_request *request, int file,
			 struct file_answer *head, void *to, u32 room)
{
	int err = sandbox_send_request(ring->sandbox, request, sizeof(*request), &file, file >= 0);

	err = err ?: sandbox_receive(ring->sandbox, head, sizeof(*head));
	if (!err && (head->bytes > room || head->result > 0))
		err = -EBADMSG;
	return err ?: sandbox_receive(ring->sandbox, to, head->bytes);
}

static int set_file_error(const struct ring_file *ring, int err, const char *buffer,
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
	err = sandbox_start(serve_trace_file, LIMIT_MS, MEMORY_PARTS, &ring->sandbox);
	err = err ?: query_sandbox(ring, &request, file, &head, ring->answer, sizeof(ring->answer));
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
		return error_set_errno(error, err, path);
	}
	ring->path = path;
	err = open_in_sandbox(ring, file, buffer);
	close(file);
	if (err) {
		set_file_error(ring, err, buffer, error);
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

int ring_file_each_entry(struct ring_file *ring, ftrace_take *take, void *arg,
			 struct stackmap_error *error)
{
	const struct file_request next = {.what = FILE_NEXT};
	struct file_answer head = {.bytes = 1};
	int err = 0, sunk = 0;

	while (!err && !sunk && head.bytes) {
		err = query_sandbox(ring, &next, -1, &head, ring->answer, sizeof(ring->answer));
		err = err ?: head.result;
		if (!err)
			sunk = ftrace_batch_read(ring->answer, head.bytes, take, arg);
	}
	if (err || sunk == -EBADMSG)
		return set_file_error(ring, err ?: sunk, NULL, error);
	return sunk;
}

bool ring_file_symbol(struct ring_file *ring, u64 address, struct symbol *symbol)
{
	const struct file_request request = {.what = FILE_SYMBOL, .address = address};
	struct file_answer head;

	if (query_sandbox(ring, &request, -1, &head, ring->name, sizeof(ring->name) - 1) ||
	    head.result || !head.bytes)
		return false;
	ring->name[head.bytes] = '\0';
	*symbol = (struct symbol){.start = head.start, .size = head.size, .name = ring->name};
	return head.start <= address && address - head.start < head.size;
}
