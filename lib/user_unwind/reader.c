/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "file_system.h"
#include "privilege/message.h"
#include "symbol/file/mapped_file.h"

#define PATH_BYTES 4096
#define HELD_MAX 32

int reader_open(const struct mapping_record *record)
{
	char path[PATH_BYTES];

	mapped_file_path(record, path, sizeof(path));
	return mapped_file_open(record, path);
}

bool reader_asks_others(const struct mapping_record *record)
{
	return !record->file_system || file_system_is_of_others(record->file_system);
}

int reader_memory(u32 tid, u64 address, void *buffer, u32 bytes)
{
	struct iovec local = {buffer, bytes};
	struct iovec remote = {(void *)address, bytes};
	ssize_t count = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	return count < 0 ? -errno : count;
}

/* A file for each mapping number, until another one needs its place. */
static struct {
	u32 number; /* MAPPING_NONE: nothing here */
	int fd;
} held[HELD_MAX];

static int hold(const struct reader_request *request)
{
	u32 place = request->number % HELD_MAX;
	int fd;

	if (held[place].number == request->number)
		return held[place].fd;
	fd = reader_open(&request->record);
	if (fd < 0)
		return fd;
	if (held[place].number != MAPPING_NONE)
		close(held[place].fd);
	held[place].number = request->number;
	held[place].fd = fd;
	return fd;
}

static int read_page(const struct reader_request *request, void *page)
{
	int fd = hold(request);
	ssize_t count;

	if (fd < 0)
		return fd;
	count = pread(fd, page, READERS_PAGE, request->at * READERS_PAGE);
	return count < 0 ? -errno : count;
}

/* Another one may read it as well as we: it is on the file system that the record tells of, not on
 * one that shows that file, or says so (an overlay). */
static bool is_plain(int fd, const struct mapping_record *record)
{
	struct statfs mounted;
	struct stat status;

	return !reader_asks_others(record) && !fstat(fd, &status) && !fstatfs(fd, &mounted) &&
	       ((u64)major(status.st_dev) << 20 | minor(status.st_dev)) == record->key.device &&
	       (u32)mounted.f_type == record->file_system;
}

static int answer_file(int socket, const struct reader_request *request,
		       struct reader_answer *answer)
{
	int fd = hold(request);
	u32 count = fd >= 0 && is_plain(fd, &request->record);

	answer->result = fd < 0 ? fd : 0;
	return message_send_files(socket, answer, sizeof(*answer), &fd, count, MESSAGE_NO_DEADLINE);
}

static int answer_bytes(int socket, const struct reader_request *request,
			struct reader_answer *answer)
{
	if (request->what == READER_PAGE)
		answer->result = read_page(request, answer->data);
	else if (request->bytes <= READERS_PAGE)
		answer->result =
			reader_memory(request->tid, request->at, answer->data, request->bytes);
	else
		answer->result = -EINVAL;
	return message_send(socket, answer, sizeof(*answer), MESSAGE_NO_DEADLINE);
}

void reader_serve(int socket)
{
	struct reader_answer answer = {};
	struct reader_request request;
	int result = message_send(socket, &answer, sizeof(answer), MESSAGE_NO_DEADLINE);

	while (!result && !message_receive(socket, &request, sizeof(request), MESSAGE_NO_DEADLINE))
		result = request.what == READER_OPEN ? answer_file(socket, &request, &answer)
						     : answer_bytes(socket, &request, &answer);
}
