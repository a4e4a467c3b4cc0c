/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library gives records to a callback, so that is where the next request is waited for. */
#include "ftrace/file_service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

#include "ftrace/batch.h"
#include "ftrace/decode.h"
#include "privilege/message.h"

struct file_service {
	int socket;
	struct tracecmd_input *input, *buffer;
	struct ftrace_decoder *decoder;
	bool has_records;
	struct ftrace_batch batch;
};

static int receive(struct file_service *service, struct file_request *request)
{
	return message_receive(service->socket, request, sizeof(*request), MESSAGE_NO_DEADLINE);
}

static int answer(struct file_service *service, struct file_answer head, const void *data)
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
	return answer(service, head, name);
}

/* Waits until it is asked for more. Symbols may be asked for before. */
static int send_batch(struct file_service *service)
{
	struct file_request request;
	int err = receive(service, &request);

	while (!err && request.what == FILE_SYMBOL)
		err = send_symbol(service, request.address) ?: receive(service, &request);
	if (!err && request.what != FILE_NEXT)
		err = -EINVAL;
	err = err
		      ?: answer(service, (struct file_answer){.bytes = service->batch.used},
				service->batch.bytes);
	service->batch.used = 0;
	return err;
}

static int put_entry(void *arg, const struct ftrace_entry *entry, const void *payload)
{
	struct file_service *service = arg;
	int err;

	if (ftrace_batch_put(&service->batch, entry, payload))
		return 0;
	err = send_batch(service);
	return err ?: ftrace_batch_put(&service->batch, entry, payload) ? 0 : -E2BIG;
}

static int take_record(struct tracecmd_input *input, struct tep_record *record, int cpu, void *arg)
{
	struct file_service *service = arg;

	(void)input;
	service->has_records = true;
	return ftrace_decode(service->decoder, record, (u32)cpu);
}

static int read_buffer(struct file_service *service, struct tracecmd_input *buffer)
{
	return buffer ? tracecmd_iterate_events(buffer, NULL, 0, take_record, service) : -ENOENT;
}

static struct tracecmd_input *find_buffer(struct file_service *service, const char *name)
{
	for (int i = 0; i < tracecmd_buffer_instances(service->input); i++)
		if (!strcmp(tracecmd_buffer_instance_name(service->input, i), name))
			return tracecmd_buffer_instance_handle(service->input, i);
	return NULL;
}

/* The last batch is an empty one: there is no more. */
static int send_all(struct file_service *service, const struct file_request *open)
{
	int err;

	if (open->has_buffer)
		err = read_buffer(service, service->buffer);
	else
		err = read_buffer(service, service->input);
	if (!err && !service->has_records && !open->has_buffer &&
	    tracecmd_buffer_instances(service->input) == 1)
		err = read_buffer(service, tracecmd_buffer_instance_handle(service->input, 0));
	if (!err && service->batch.used)
		err = send_batch(service);
	return err;
}

static int open_input(struct file_service *service, int file, const struct file_request *request)
{
	struct ftrace_sink sink = {service, put_entry};
	struct tep_handle *formats;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	service->input = tracecmd_open_fd(file, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!service->input)
		return -EBADMSG;
	formats = tracecmd_get_tep(service->input);
	if (tep_get_long_size(formats) != sizeof(u64))
		return -EPROTONOSUPPORT;
	if (request->has_buffer) {
		service->buffer = find_buffer(service, request->buffer);
		if (!service->buffer)
			return -ENOENT;
	}
	return ftrace_decoder_create(formats, sink, &service->decoder);
}

/* Behind the entries: their end, which may be an error, and symbols. */
static void serve_rest(struct file_service *service, int result)
{
	struct file_request request;
	int err = receive(service, &request);

	while (!err) {
		if (request.what == FILE_SYMBOL)
			err = send_symbol(service, request.address);
		else
			err = answer(service, (struct file_answer){.result = result}, NULL);
		err = err ?: receive(service, &request);
	}
}

static int begin(struct file_service *service, struct file_request *request)
{
	int files[MESSAGE_FILES_MAX], result;

	if (message_receive_files(service->socket, request, sizeof(*request), files,
				  MESSAGE_NO_DEADLINE))
		return -EPIPE;
	request->buffer[sizeof(request->buffer) - 1] = '\0';
	result = open_input(service, files[0], request);
	return answer(service,
		      (struct file_answer){
			      .result = result,
			      .cpus = result ? 0
					     : (u32)tep_get_cpus(tracecmd_get_tep(service->input)),
		      },
		      NULL)
		       ?: result;
}

/* What a child has is gone with it. */
void file_serve(int socket)
{
	struct file_service *service = calloc(1, sizeof(*service));
	struct file_request request;
	int err;

	if (!service)
		return;
	service->socket = socket;
	err = begin(service, &request);
	if (!err) {
		err = send_all(service, &request);
		serve_rest(service, err < 0 && err != -ENOENT ? -EBADMSG : 0);
	}
}
