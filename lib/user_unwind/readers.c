/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time spent waiting for an owner's worker is recorded as a debt. As time passes, the debt
 * decreases: by a tenth of the time for one owner, by a quarter for all owners together. Requests
 * are refused while the debt is too large. A slow mount therefore costs no more than a dead one.
 */
#include "readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"
#include "mapping.h"
#include "privilege/file_worker.h"
#include "privilege/message.h"
#include "symbol/file/mapped_file.h"

#define ANSWER_NS (100 * NS_PER_MS)
/* The time that a worker has to start. It is long, since other users cannot delay the start. */
#define START_NS (1000 * NS_PER_MS)
/* The most workers that are started for an owner in STARTS_NS; each may be stuck in the kernel. */
#define STARTS_MAX 5
#define STARTS_NS (600000 * NS_PER_MS)
#define PATH_BYTES 4096
#define HELD_MAX 32

struct debt {
	u64 ns;
	u64 since; /* CLOCK_MONOTONIC, ns: time when `ns` was last computed */
};

#define OWNER_SHARE 10 /* at most 1/10 of the time may be spent waiting for one owner */
#define OWNER_DEBT_MAX (50 * NS_PER_MS)
#define ALL_SHARE 4
#define ALL_DEBT_MAX (200 * NS_PER_MS)

struct reader {
	u64 owner;
	u32 starts;
	u64 since; /* CLOCK_MONOTONIC, ns: time when the first of `starts` workers was started */
	struct file_worker worker;
	struct debt debt;
};

struct readers {
	u32 count;
	struct reader reader[READERS_MAX];
	struct debt debt;
	u32 tgid; /* process whose owner is `owner`; 0: none was looked up yet */
	u64 owner;
};

enum reader_what { READER_OPEN, READER_PAGE, READER_MEMORY };

struct reader_request {
	u32 what; /* enum reader_what */
	u32 number;
	u32 tid;
	u32 bytes;
	u64 at; /* what to read: for READER_PAGE the index of the page, for READER_MEMORY the
		   address */
	struct mapping_record record;
};

struct reader_answer {
	/*
	 * number of bytes in `data`, or -errno; READER_OPEN: 0, the file comes with the answer, or
	 * the worker keeps it open
	 */
	s32 result;
	u8 data[READERS_PAGE];
};

/* Opens the file of a mapping. Returns a descriptor, which the caller closes, or -errno. */
static int open_mapped_file(const struct mapping_record *record)
{
	char path[PATH_BYTES];

	mapped_file_path(record, path, sizeof(path));
	return mapped_file_open(record, path);
}

/*
 * True if reads may have to wait for another user: for the one that serves the file system (FUSE, a
 * server), or that has mounted it as root of a user namespace.
 */
static bool may_file_system_of_other_user_block(const struct mapping_record *record)
{
	return !record->file_system || is_file_system_of_other_user(record->file_system);
}

/* Reads memory of a thread. Returns the number of bytes, or -errno. */
static int read_thread_memory(u32 tid, u64 address, void *buffer, u32 bytes)
{
	struct iovec local = {buffer, bytes};
	struct iovec remote = {(void *)address, bytes};
	ssize_t count = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	return count < 0 ? -errno : count;
}

/* The files that a worker keeps open: a hash table by mapping number, without chains. */
static struct {
	u32 number; /* number of the mapping whose file is open; MAPPING_NONE: the entry is unused
		     */
	int fd;
} held[HELD_MAX];

/* Returns the descriptor of a request's file, which is opened if it is not open yet; or -errno. */
static int open_or_get_kept_file(const struct reader_request *request)
{
	u32 place = request->number % HELD_MAX;
	int fd;

	if (held[place].number == request->number)
		return held[place].fd;
	fd = open_mapped_file(&request->record);
	if (fd < 0)
		return fd;
	if (held[place].number != MAPPING_NONE)
		close(held[place].fd);
	held[place].number = request->number;
	held[place].fd = fd;
	return fd;
}

/*
 * Answers a request to open a file. The descriptor is sent only if other processes may read the
 * file: it must be on the file system that the record names, not on another file system that shows
 * this file or pretends to (an overlay).
 */
static int answer_open_request(int socket, const struct reader_request *request,
			       struct reader_answer *answer)
{
	const struct mapping_record *record = &request->record;
	int fd = open_or_get_kept_file(request);
	struct statfs mounted;
	struct stat status;
	bool is_plain =
		fd >= 0 && !may_file_system_of_other_user_block(record) && !fstat(fd, &status) &&
		!fstatfs(fd, &mounted) &&
		((u64)major(status.st_dev) << 20 | minor(status.st_dev)) == record->key.device &&
		(u32)mounted.f_type == record->file_system;

	answer->result = fd < 0 ? fd : 0;
	return message_send_files(socket, answer, sizeof(*answer), &fd, is_plain,
				  MESSAGE_NO_DEADLINE);
}

static int answer_read_request(int socket, const struct reader_request *request,
			       struct reader_answer *answer)
{
	if (request->what == READER_PAGE) {
		int fd = open_or_get_kept_file(request);
		ssize_t count =
			fd < 0 ? fd
			       : pread(fd, answer->data, READERS_PAGE, request->at * READERS_PAGE);

		answer->result = fd >= 0 && count < 0 ? -errno : (s32)count;
	} else if (request->bytes <= READERS_PAGE) {
		answer->result =
			read_thread_memory(request->tid, request->at, answer->data, request->bytes);
	} else {
		answer->result = -EINVAL;
	}
	return message_send(socket, answer, sizeof(*answer), MESSAGE_NO_DEADLINE);
}

/*
 * Serves requests, in the worker process, until the parent closes the socket. The first answer,
 * without a request, tells the parent that the worker has started.
 */
static void serve_requests(int socket)
{
	struct reader_answer answer = {};
	struct reader_request request;
	int result = message_send(socket, &answer, sizeof(answer), MESSAGE_NO_DEADLINE);

	while (!result && !message_receive(socket, &request, sizeof(request), MESSAGE_NO_DEADLINE))
		result = request.what == READER_OPEN
				 ? answer_open_request(socket, &request, &answer)
				 : answer_read_request(socket, &request, &answer);
}

int readers_create(struct readers **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void readers_free(struct readers **readers)
{
	if (!*readers)
		return;
	for (u32 i = 0; i < (*readers)->count; i++)
		file_worker_end(&(*readers)->reader[i].worker, 0);
	free(*readers);
	*readers = NULL;
}

u32 readers_worker_pids(const struct readers *readers, u32 *pids)
{
	u32 count = 0;

	for (u32 i = 0; i < readers->count; i++)
		if (readers->reader[i].worker.pid)
			pids[count++] = readers->reader[i].worker.pid;
	return count;
}

void readers_drop_process_owners(struct readers *readers)
{
	readers->tgid = 0;
}

static u64 find_process_owner(struct readers *readers, u32 tgid)
{
	if (!readers->tgid || readers->tgid != tgid) {
		readers->owner = file_owner_of_process(tgid);
		readers->tgid = tgid;
	}
	return readers->owner;
}

static u64 owner_of_mapping(struct readers *readers, const struct mapping_record *record)
{
	if (may_file_system_of_other_user_block(record))
		return FILE_OWNER_MOUNT | record->key.device;
	return find_process_owner(readers, record->tgid);
}

static struct reader *find_or_add_reader_of_owner(struct readers *readers, u64 owner)
{
	for (u32 i = 0; i < readers->count; i++)
		if (readers->reader[i].owner == owner)
			return &readers->reader[i];
	if (readers->count == READERS_MAX)
		return &readers->reader[READERS_MAX - 1];
	readers->reader[readers->count] = (struct reader){.owner = owner};
	return &readers->reader[readers->count++];
}

static bool reduce_debt_and_check_limit(struct debt *debt, u64 now, u32 share, u64 most)
{
	u64 paid = (now - debt->since) / share;

	debt->ns = debt->ns > paid ? debt->ns - paid : 0;
	debt->since = now;
	return debt->ns <= most;
}

static int start_worker_unless_running(struct reader *reader, struct reader_answer *answer, u64 now)
{
	int result;

	if (reader->worker.pid)
		return 0;
	if (now - reader->since > STARTS_NS) {
		reader->since = now;
		reader->starts = 0;
	}
	if (reader->starts == STARTS_MAX)
		return -EPIPE;
	reader->starts++;
	result = file_worker_start(serve_requests, &reader->worker);
	if (result)
		return result;
	result = message_receive(reader->worker.socket, answer, sizeof(*answer), now + START_NS);
	if (result)
		file_worker_end(&reader->worker, 0);
	return result;
}

/*
 * Sends a request to the worker of an owner. A worker that does not answer in time is ended,
 * because its late answer would be taken for the answer to the next request.
 */
static int send_request_to_worker(struct readers *readers, u64 owner,
				  const struct reader_request *request,
				  struct reader_answer *answer, int *file)
{
	u64 now = clock_ns(CLOCK_MONOTONIC), waited;
	struct reader *reader = find_or_add_reader_of_owner(readers, owner);
	int files[MESSAGE_FILES_MAX] = {-1, -1, -1};
	int result;

	if (!reduce_debt_and_check_limit(&reader->debt, now, OWNER_SHARE, OWNER_DEBT_MAX) ||
	    !reduce_debt_and_check_limit(&readers->debt, now, ALL_SHARE, ALL_DEBT_MAX))
		return -EBUSY;
	result = start_worker_unless_running(reader, answer, now);
	readers->debt.ns += clock_ns(CLOCK_MONOTONIC) - now;
	if (result)
		return result;
	now = clock_ns(CLOCK_MONOTONIC);
	result = message_send(reader->worker.socket, request, sizeof(*request), now + ANSWER_NS)
			 ?: message_receive_files(reader->worker.socket, answer, sizeof(*answer),
						  files, now + ANSWER_NS);
	waited = clock_ns(CLOCK_MONOTONIC) - now;
	reader->debt.ns += waited;
	readers->debt.ns += waited;
	if (result)
		file_worker_end(&reader->worker, 0);
	*file = files[0];
	return result ?: answer->result;
}

static struct reader_request make_request(const struct reader_file *file, u32 what)
{
	struct reader_request request = {
		.what = what, .number = file->number, .record = *file->record};

	request.record.tgid = file->tgid;
	request.record.start = file->start;
	request.record.end = file->end;
	return request;
}

/*
 * Opens a file as the process of the request sees it: directly, or by a worker if another user owns
 * it.
 */
static int open_file_as_seen_by_process(struct readers *readers,
					const struct reader_request *request)
{
	u64 owner = owner_of_mapping(readers, &request->record);
	struct reader_answer answer;
	char path[PATH_BYTES];
	int fd = -ENOENT, result;

	if (file_owner_trusted(owner))
		return open_mapped_file(&request->record);
	if (!may_file_system_of_other_user_block(&request->record)) {
		mapped_file_path(&request->record, path, sizeof(path));
		fd = mapped_file_open_cached(&request->record, path);
	}
	if (fd >= 0)
		return fd;
	fd = -1;
	result = send_request_to_worker(readers, owner, request, &answer, &fd);
	return result ?: fd >= 0 ? fd : READERS_HELD;
}

/*
 * Tries the process in which the mapping was seen now, then the process of the record, which may
 * have ended. If a worker would have to keep the file of the second process, it is refused, as
 * pages are read from the first process.
 */
int readers_open(struct readers *readers, const struct reader_file *file)
{
	struct reader_request request = make_request(file, READER_OPEN);
	int fd = open_file_as_seen_by_process(readers, &request);

	if (fd != -ENOENT || file->tgid == file->record->tgid)
		return fd;
	request.record = *file->record;
	fd = open_file_as_seen_by_process(readers, &request);
	return fd == READERS_HELD ? -ENOENT : fd;
}

int readers_read_page(struct readers *readers, const struct reader_file *file, u64 index,
		      void *page)
{
	struct reader_request request = make_request(file, READER_PAGE);
	struct reader_answer answer;
	int unused, result;

	request.at = index;
	result = send_request_to_worker(readers, owner_of_mapping(readers, &request.record),
					&request, &answer, &unused);
	if (result > 0)
		memcpy(page, answer.data, result);
	return result;
}

bool readers_read_memory(struct readers *readers, u32 tid, u32 tgid, u64 address, void *buffer,
			 u32 bytes)
{
	struct reader_request request = {
		.what = READER_MEMORY, .tid = tid, .at = address, .bytes = bytes};
	u64 owner = find_process_owner(readers, tgid);
	struct reader_answer answer;
	int unused;

	if (file_owner_trusted(owner))
		return read_thread_memory(tid, address, buffer, bytes) == (int)bytes;
	if (bytes > READERS_PAGE ||
	    send_request_to_worker(readers, owner, &request, &answer, &unused) != (int)bytes)
		return false;
	memcpy(buffer, answer.data, bytes);
	return true;
}
