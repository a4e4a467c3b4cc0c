/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of an ordinary user that do not answer, with code that a recorder meets.
 *
 *   neighbour lookup|open|getattr|read|fault FOLDER DEVICE
 *     runs code of a file of its own FUSE file system below an overlay, both in a user namespace.
 *     The overlay makes the file reachable for root. Once the code is mapped, calls of the named
 *     kind are never answered. `fault` sleeps with a frame in a page that is not read yet. DEVICE
 * is the device of FUSE.
 *
 *   neighbour lock FOLDER DEVICE
 *     keeps its mmap_lock busy by a wait for such a file system, and sleeps with a frame in a page
 *     that has to be read from a disk.
 *
 * Prints a line when everything is set up, and runs until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "neighbour_code.h"

#define CODE_AT (16 * PAGE) /* the page before it and the first page stay unread */
#define FILE_BYTES (32 * PAGE)
#define NODE_FILE 2
#define SERVER_SECONDS 120 /* the server ends if the test does not end it */

/* The file system */

static struct timespec began;

struct server {
	int device;
	uint32_t hangs; /* opcode of the requests that are not answered after the start */
	uint32_t fails; /* number of such requests that fail before */
	volatile bool *is_told;
	volatile bool *hangs_now; /* set when a request hangs; NULL: not used */
	const char *content;
	size_t bytes;
};

static void reply(const struct server *server, uint64_t unique, int error, const void *data,
		  size_t bytes)
{
	char packet[sizeof(struct fuse_out_header) + 128 * 1024];
	struct fuse_out_header header = {
		.len = sizeof(header) + bytes, .error = -error, .unique = unique};

	memcpy(packet, &header, sizeof(header));
	if (bytes)
		memcpy(packet + sizeof(header), data, bytes);
	if (write(server->device, packet, header.len) < 0 && errno == ENODEV)
		exit(0);
}

/* The attributes are valid for 0 seconds, so that the kernel requests them each time. The time of
 * the last write is now, so that each run has a different file. */
static struct fuse_attr attributes(const struct server *server, uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == NODE_FILE ? server->bytes : 0,
		.mode = node == NODE_FILE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = PAGE,
		.mtime = began.tv_sec,
		.mtimensec = began.tv_nsec,
	};
}

static void reply_lookup(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_entry_out entry = {.nodeid = NODE_FILE,
					     .attr = attributes(server, NODE_FILE)};

	if (strcmp((const char *)(in + 1), "program"))
		reply(server, in->unique, ENOENT, NULL, 0);
	else
		reply(server, in->unique, 0, &entry, sizeof(entry));
}

static void reply_read(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_read_in *read = (const void *)(in + 1);
	uint64_t left = read->offset < server->bytes ? server->bytes - read->offset : 0;

	reply(server, in->unique, 0, server->content + read->offset,
	      read->size < left ? read->size : left);
}

/* The kernel may read one page at a time. */
static void reply_init(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_readahead = 0,
		.max_write = 4096,
		.max_pages = 1,
		.flags = FUSE_MAX_PAGES,
	};

	reply(server, in->unique, 0, &out, sizeof(out));
}

static void answer(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_open_out opened = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};
	const struct fuse_attr_out attr = {.attr = attributes(server, in->nodeid)};
	const struct fuse_statfs_out fs = {.st = {.bsize = PAGE, .namelen = 255}};

	switch (in->opcode) {
	case FUSE_INIT:
		return reply_init(server, in);
	case FUSE_LOOKUP:
		return reply_lookup(server, in);
	case FUSE_GETATTR:
		return reply(server, in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return reply(server, in->unique, 0, &opened, sizeof(opened));
	case FUSE_READ:
		return reply_read(server, in);
	case FUSE_STATFS:
		return reply(server, in->unique, 0, &fs, sizeof(fs));
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
		return reply(server, in->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		reply(server, in->unique, ENOSYS, NULL, 0);
	}
}

static void serve(struct server *server)
{
	static char request[256 * 1024];

	alarm(SERVER_SECONDS);
	while (read(server->device, request, sizeof(request)) > 0) {
		const struct fuse_in_header *in = (const void *)request;

		if (!*server->is_told || in->opcode != server->hangs)
			answer(server, in);
		else if (server->fails && server->fails--)
			reply(server, in->unique, EIO, NULL, 0);
		else if (server->hangs_now)
			*server->hangs_now = true;
	}
	exit(0);
}

/* The mounts */

static void mount_fuse(struct server *server, const char *device)
{
	char options[128];

	server->device = open(device, O_RDWR | O_CLOEXEC);
	check(server->device >= 0, device);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
		 server->device);
	check(!mount("neighbour", "fuse", "fuse", MS_NOSUID | MS_NODEV, options), "fuse");
	if (!fork_child())
		serve(server);
	close(server->device); /* waiting callers go on when the server ends */
}

static void make_mounts(const char *folder, const char *device, struct server *server)
{
	enter_namespaces();
	check(!mount("none", folder, "tmpfs", 0, NULL) && !chdir(folder), folder);
	check(!mkdir("fuse", 0755) && !mkdir("empty", 0755) && !mkdir("seen", 0755), "mkdir");
	mount_fuse(server, device);
	check(!mount("overlay", "seen", "overlay", 0, "lowerdir=fuse:empty,userxattr"), "overlay");
}

static const char *unread_frame;

/* The stack is in the unread page. */
static void sleep_with_unread_frame(void)
{
#ifdef __x86_64__
	static const struct timespec time = {.tv_nsec = 10000000};
	long number = SYS_nanosleep;

	asm volatile("push %%rbp\n\tmov %%rsp, %%r8\n\tmov %1, %%rsp\n\tmov %1, %%rbp\n\t"
		     "syscall\n\tmov %%r8, %%rsp\n\tpop %%rbp"
		     : "+a"(number)
		     : "d"(unread_frame), "D"(&time), "S"(NULL)
		     : "rcx", "r8", "r11", "memory");
#endif
}

static void sleep_with_it_for_ever(void)
{
	for (;;)
		sleep_with_unread_frame();
}

static void sleep_beside(const char *memory)
{
	unread_frame = memory + 8 * PAGE + 512;
	if (!fork_child())
		sleep_with_it_for_ever();
}

static char *asked_for; /* a page that the server never delivers */

static void *fault_for_ever(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t) * (volatile char *)asked_for;
}

static volatile bool has_lock;

/* While a writer waits for mmap_lock, new readers wait, too. */
static void *wait_for_lock(void *is_told)
{
	while (!*(volatile bool *)is_told)
		sleep_a_little();
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	has_lock = true;
	return NULL;
}

/* Maps a file that is on the disk and not in memory. */
static const char *map_unread(const char *folder)
{
	static const char content[2 * PAGE];
	char path[128];
	const char *memory;
	int file;

	snprintf(path, sizeof(path), "%s/unread", folder);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	check(file >= 0 && write(file, content, sizeof(content)) == sizeof(content), path);
	check(!fsync(file) && !posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), path);
	memory = mmap(NULL, sizeof(content), PROT_READ, MAP_PRIVATE, file, 0);
	check(memory != MAP_FAILED, path);
	return memory;
}

static void start_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, function, argument), "thread");
}

/* The server fails the first read: a page fault drops mmap_lock at its first try and keeps it at
 * its second one. */
static void sleep_below_lock(const char *folder, const char *device)
{
	static char content[PAGE];
	struct server server = {
		.hangs = FUSE_READ, .fails = 1, .content = content, .bytes = sizeof(content)};
	bool *told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(told != MAP_FAILED, "memory");
	server.is_told = told;
	server.hangs_now = told + 2;
	unread_frame = map_unread(folder) + 512;
	make_mounts(folder, device, &server);
	asked_for = (char *)map_file("fuse/program", PAGE);
	start_thread(wait_for_lock, told + 1);
	*told = true;
	start_thread(fault_for_ever, NULL);
	while (!*server.hangs_now)
		sleep_a_little();
	told[1] = true;
	usleep(200000);
	check(!has_lock, "nobody keeps the lock");
	check(write(STDOUT_FILENO, "ready\n", 6) == 6, "output");
	sleep_with_it_for_ever();
}

static uint32_t request_of(const char *mode)
{
	static const struct {
		const char *name;
		uint32_t opcode;
	} kinds[] = {
		{"lookup", FUSE_LOOKUP}, {"open", FUSE_OPEN},  {"getattr", FUSE_GETATTR},
		{"read", FUSE_READ},	 {"fault", FUSE_READ},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(mode, kinds[i].name))
			return kinds[i].opcode;
	return 0;
}

static void hang(const char *mode, const char *folder, const char *device)
{
	static char content[FILE_BYTES];
	struct server server = {
		.hangs = request_of(mode), .content = content, .bytes = sizeof(content)};
	through_code entry;
	const char *memory;
	bool *told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(told != MAP_FAILED, "memory");
	memcpy(content + CODE_AT, neighbour_code, sizeof(neighbour_code));
	clock_gettime(CLOCK_REALTIME, &began);
	server.is_told = told;
	make_mounts(folder, device, &server);
	memory = map_file("seen/program", FILE_BYTES);
	entry = (through_code)(uintptr_t)(memory + CODE_AT);
	entry(sleep_a_little);
	*told = true;
	if (!strcmp(mode, "fault"))
		sleep_beside(memory);
	run_for_ever(&entry, 1);
}

int main(int argc, char **argv)
{
	if (argc == 4 && request_of(argv[1]))
		hang(argv[1], argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "lock"))
		sleep_below_lock(argv[2], argv[3]);
	fprintf(stderr, "usage: neighbour lookup|open|getattr|read|fault|lock FOLDER DEVICE\n");
	return 2;
}
