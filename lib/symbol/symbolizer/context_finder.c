/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process is visited again after 50 ms, and then at intervals that double up to 10 s: a process
 * without the variable may load a library, and a process with the variable may close the library,
 * whose module number another library then has. Results are cached by the file's device, inode and
 * time of change.
 *
 * A file at which the sandbox fails is tried FILE_TRIES times. For the files of one user's
 * processes the sandbox may fail USER_FAILURES times; for those of root's processes, any number of
 * times. Events of a process with such a file are counted as events whose process was not looked
 * at.
 *
 * A visit may never end. The visit opens files of the process, which may lie in a file system that
 * does not answer (FUSE), and reads memory of the process, whose pages may come from such a file or
 * from userfaultfd. No system call has a time limit for this. The worker therefore opens and reads
 * nothing itself: a child of the worker, the visitor, does. Both share a page in which the visitor
 * writes which process it visits, and until when. The worker kills a visitor whose visit takes
 * longer, and starts another one, which never visits that process. When USER_HANGS visits of a
 * user's processes have not ended, the user's processes are not visited any more (each process of
 * root is visited). Events of these processes, too, are counted as events whose process was not
 * looked at.
 *
 * A visit may also end, but late, again and again. When the visits of a user's processes have taken
 * USER_ROUND_MS in a round, the user's other processes wait for the next round, so that processes
 * of all users are visited in each round.
 *
 * Process contexts are copied at these visits, so they are seen with the same delay. The context of
 * a process that has called execve() since counts until a visit of the new program.
 *
 * The pause between two rounds is ROUND_MS, and at least ROUND_PAUSES times the CPU time that a
 * round has used, here and in the sandbox. The time on the clock does not count: on a busy machine
 * a round takes long, and only the next one finds a library that was loaded after it.
 */
#include "context_finder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "privilege/capability.h"
#include "privilege/file_worker.h"
#include "privilege/message.h"
#include "process_contexts.h"
#include "symbol_lookup.h"
#include "thread_context.h"
#include "trace_file.h"

#define PARTS 8 /* the sandbox may take 1/8 of all memory */
#define ROUND_MS 20
#define ROUND_PAUSES 20
#define FILE_TRIES 3
#define USER_FAILURES 8
#define USERS_MAX 256
#define USER_HANGS 3
#define HANGS_MAX 256
/* The longest time of a visit, without the time in the sandbox. */
#define VISIT_MS 5000
/* The longest time of a request to the sandbox: longer than the limits of the sandbox itself, for
 * the request and for the start of a new child before and after it. */
#define SANDBOX_MS 40000
/* When the visits of a user's processes have taken this time in a round, the user's other processes
 * wait for the next round. */
#define USER_ROUND_MS 1000
#define LOOK_MS 500 /* time between two looks at the visitor */
#define AGAIN_MS_MIN 50
#define AGAIN_MS_MAX 10000
/* A context that has not changed is sent again after this time, as the recorder may have had no
 * room for it. */
#define SEND_AGAIN_MS 60000
#define PATH_BYTES 4096
#define FILES_MAX 4096
#define IMAGES_MAX 4096
/* The most lines of a /proc/PID/maps that are read; the kernel allows 65,530 mappings by default.
 */
#define LINES_MAX (1U << 17)
#define STATIC_DISTANCE_MAX (1LL << 24)

/* A process context, as the visitor sends it. */
struct published {
	u64 since; /* time when the process began, as in struct trace_process */
	u32 tgid;
	u32 uid;
	u32 bytes;	  /* number of used bytes of `message` */
	u32 program;	  /* as in struct trace_process */
	u32 is_withdrawn; /* the program that published the last message has gone by execve(), and
			     the new one publishes none */
	u8 message[TRACE_PROCESS_BYTES_MAX];
};

struct context_finder {
	struct file_worker worker;
	struct process_contexts *contexts;
	struct published buffer; /* holds the message that is being received */
};

/* --- the visitor --- */

/* The head of a process context in memory (OTEP 4719). */
struct context_head {
	char signature[8];
	u32 version;
	u32 bytes;
	u64 published; /* time of the last change; 0: the context is being changed */
	u64 message;   /* address of the context's message */
};

#define CONTEXT_SIGNATURE "OTEL_CTX"
#define CONTEXT_VERSION 2

/* A file, and the thread-local variable that was found in it. */
struct known_file {
	dev_t device;
	ino_t inode;
	struct timespec changed;
	u32 failures; /* how often the sandbox has failed at this file in a row; 0: `variable` is
			 what the file has */
	struct thread_variable variable;
};

/* A user (not root), and what the visits of the user's processes have cost. */
struct known_user {
	uid_t uid;
	u32 failures; /* how often the sandbox failed at a file of the user's processes */
	u64 spent;    /* ms: time of the visits of the user's processes in this round */
};

/* The first mapping of a file in a process. */
struct image {
	u64 start, end;
	dev_t device;
	ino_t inode;
};

/* A process, and the time of the next visit. */
struct known_process {
	u32 key;
	u32 is_met;	 /* the map of places has an entry of this process in this round */
	bool has_failed; /* a file of the process could not be looked at, so the place of its
			    variable stays unknown */
	u64 process, execs;
	u64 published;	    /* context_head.published of the program's context that was sent; 0: no
			       context of this program was sent */
	u64 sent;	    /* ms: time when a context of the process was last sent */
	bool has_earlier;   /* the context of an earlier program of the process was sent last */
	u64 next, interval; /* ms: time of the next visit, and time between visits */
};

/* A visit of a process. */
struct visit {
	u64 deadline; /* clock_ms() by which the visit has to end; 0: no visit */
	u64 process;  /* time when the process began, as in struct context_place */
	u32 tgid;
	uid_t uid;
};

struct search {
	int map;
	pid_t visitor;
	struct visit *visit;	       /* memory that the worker and the visitor share */
	struct visit hangs[HANGS_MAX]; /* the last visits that have not ended */
	u32 hang_count;		       /* number of all visits that have not ended */
	struct symbol_lookup *lookup;
	struct known_file *files;
	u32 file_count, file_room;
	struct known_process *processes;
	u32 process_count, process_room;
	struct known_user users[USERS_MAX];
	u32 user_count;
	struct known_user *user; /* user of the process that is visited; NULL: root */
	bool has_failed;	 /* a file of the visited process could not be looked at */
	u64 context;		 /* address of the visited process's context; 0: none */
	int socket;		 /* socket to the recorder */
	struct published buffer; /* holds the message that is being sent */
};

static int call_bpf_map_command(int command, int map, const u32 *key, const void *value, u64 flags)
{
	union bpf_attr attr = {.map_fd = map, .key = (u64)key, .value = (u64)value, .flags = flags};

	return syscall(SYS_bpf, command, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

static bool read_memory_of_process(u32 tgid, u64 address, void *buffer, size_t bytes)
{
	struct iovec here = {buffer, bytes}, there = {(void *)address, bytes};

	return process_vm_readv((pid_t)tgid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool read_context_head(u32 tgid, u64 address, struct context_head *head)
{
	return read_memory_of_process(tgid, address, head, sizeof(*head)) &&
	       !memcmp(head->signature, CONTEXT_SIGNATURE, sizeof(head->signature)) &&
	       head->version == CONTEXT_VERSION;
}

static u64 context_address_in_maps_line(u32 tgid, const char *line)
{
	bool has_context_name = strstr(line, "/memfd:" CONTEXT_SIGNATURE) ||
				strstr(line, "[anon_shmem:" CONTEXT_SIGNATURE "]") ||
				strstr(line, "[anon:" CONTEXT_SIGNATURE "]");
	struct context_head head;
	u64 start;

	return has_context_name && sscanf(line, "%" SCNx64 "-", &start) == 1 &&
			       read_context_head(tgid, start, &head)
		       ? start
		       : 0;
}

/* Copies the visited process's context to search->buffer. False: the context was sent before, or it
 * changed while it was read. */
static bool copy_context(struct search *search, const struct known_process *process, u32 tgid,
			 u64 *published)
{
	struct published *out = &search->buffer;
	struct context_head head, after;

	if (!read_context_head(tgid, search->context, &head) || !head.published ||
	    (head.published == process->published && clock_ms() < process->sent + SEND_AGAIN_MS))
		return false;
	*published = head.published;
	out->bytes = head.bytes < sizeof(out->message) ? head.bytes : sizeof(out->message);
	return read_memory_of_process(tgid, head.message, out->message, out->bytes) &&
	       read_context_head(tgid, search->context, &after) &&
	       !memcmp(&head, &after, sizeof(head));
}

/* Sends the context of the visited process to the recorder, if the context has changed since it was
 * sent last. If the process's new program has no context, sends that the context of the earlier
 * program does not count any more. If the context changes while it is read, or the socket is full,
 * the next visit tries again. */
static void send_context(struct search *search, struct known_process *process, u32 tgid)
{
	struct published *out = &search->buffer;
	u64 published = 0;

	out->since = process->process;
	out->program = (u16)process->execs;
	out->tgid = tgid;
	out->uid = search->visit->uid;
	out->bytes = 0;
	out->is_withdrawn = !search->context;
	if (search->context ? !copy_context(search, process, tgid, &published)
			    : !process->has_earlier)
		return;
	if (send(search->socket, out, offsetof(struct published, message) + out->bytes,
		 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
	process->published = published;
	process->sent = clock_ms();
	process->has_earlier = false;
}

static struct known_file *find_or_add_file(struct search *search, const struct stat *status)
{
	struct known_file *file;

	for (u32 i = 0; i < search->file_count; i++) {
		file = &search->files[i];
		if (file->inode == status->st_ino && file->device == status->st_dev &&
		    file->changed.tv_sec == status->st_mtim.tv_sec &&
		    file->changed.tv_nsec == status->st_mtim.tv_nsec)
			return file;
	}
	if (search->file_count == FILES_MAX)
		search->file_count = 0;
	if (array_make_room(search->files, search->file_count, search->file_room))
		return NULL;
	file = &search->files[search->file_count++];
	*file = (struct known_file){.device = status->st_dev,
				    .inode = status->st_ino,
				    .changed = status->st_mtim,
				    .failures = FILE_TRIES + 1};
	return file;
}

/* Asks the sandbox for the file's variable. A sandbox that has ended too often is replaced by a new
 * one. */
static void request_thread_variable(struct search *search, int descriptor, struct known_file *file)
{
	int result = symbol_lookup_thread_variable(search->lookup, descriptor, &file->variable);

	if (!result || result == -ENOEXEC) {
		file->failures = 0;
		return;
	}
	file->variable = (struct thread_variable){};
	file->failures = file->failures > FILE_TRIES ? 1 : file->failures + 1;
	if (search->user)
		search->user->failures++;
	if (result != -EPIPE)
		return;
	symbol_lookup_free(&search->lookup);
	if (symbol_lookup_create(PARTS, &search->lookup))
		search->lookup = NULL;
}

static void set_visit_deadline(struct search *search, u64 deadline)
{
	__atomic_store_n(&search->visit->deadline, deadline, __ATOMIC_RELEASE);
}

/* Returns the variable as a file has it; NULL: the file lacks it, or could not be read. */
static const struct thread_variable *find_variable_in_file(struct search *search, int descriptor)
{
	struct known_file *file;
	struct stat status;

	if (fstat(descriptor, &status) || !S_ISREG(status.st_mode))
		return NULL;
	file = find_or_add_file(search, &status);
	if (!file)
		return NULL;
	if (file->failures && search->lookup && file->failures != FILE_TRIES &&
	    (!search->user || search->user->failures < USER_FAILURES)) {
		/* The time of the sandbox's answer does not count as time of the visit. */
		u64 deadline = search->visit->deadline, begin = clock_ms();

		set_visit_deadline(search, deadline + SANDBOX_MS);
		request_thread_variable(search, descriptor, file);
		set_visit_deadline(search, deadline + (clock_ms() - begin));
	}
	search->has_failed |= file->failures != 0;
	return file->variable.is_found ? &file->variable : NULL;
}

/* Reads a line of /proc/PID/maps. False: the line does not map the first byte of a file. */
static bool parse_first_byte_mapping(const char *line, struct image *image)
{
	unsigned int major, minor;
	u64 offset, inode;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64, &image->start,
		   &image->end, &offset, &major, &minor, &inode) != 6)
		return false;
	image->device = makedev(major, minor);
	image->inode = (ino_t)inode;
	return inode && !offset;
}

/* Opens a path if it leads to a regular file with this inode (0: any). A device is not opened. */
static int open_regular_file(const char *path, ino_t inode)
{
	int place = open(path, O_PATH | O_CLOEXEC), file = -1;
	struct stat status;
	char opened[40];

	if (place < 0)
		return -1;
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", place);
	if (!fstat(place, &status) && S_ISREG(status.st_mode) && (!inode || status.st_ino == inode))
		file = open(opened, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(place);
	return file;
}

/* Opens the file of a mapping. `line`: the mapping's line of /proc/PID/maps. Removed files can be
 * opened through /proc/PID/map_files only. */
static int open_file_of_mapping(u32 tgid, const struct image *image, const char *line)
{
	const char *name = strchr(line, '/');
	char path[PATH_BYTES + 32];
	int file;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, tgid, image->start,
		 image->end);
	file = open_regular_file(path, 0);
	if (file >= 0 || !name)
		return file;
	snprintf(path, sizeof(path), "/proc/%u/root%.*s", tgid, (int)strcspn(name, "\n"), name);
	return open_regular_file(path, image->inode);
}

static bool is_program_of_process(u32 tgid, int file)
{
	struct stat program, status;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/exe", tgid);
	return !stat(path, &program) && !fstat(file, &status) && program.st_ino == status.st_ino &&
	       program.st_dev == status.st_dev;
}

/* Sets the place of a library's variable from the words that the dynamic linker has written. */
static void set_context_place_by_linker_words(u32 tgid, const struct image *image,
					      const struct thread_variable *variable,
					      struct context_place *place)
{
	u64 address = image->start + (variable->word - variable->base), word[2] = {}, at[2] = {};

	if (!variable->kind || !read_memory_of_process(tgid, address, word, sizeof(word)))
		return;
	at[0] = word[0];
	at[1] = variable->value;
	if (variable->kind == THREAD_WORD_DESCRIPTOR) {
		bool is_bound = word[0] - image->start >= image->end - image->start;
		s64 distance = (s64)word[1];

		if (!word[0] || !is_bound)
			return;
		at[0] = word[1];
		if (distance <= -STATIC_DISTANCE_MAX || distance >= STATIC_DISTANCE_MAX) {
			if (!read_memory_of_process(tgid, word[1], at, sizeof(at)))
				return;
			place->way = CONTEXT_DYNAMIC;
		}
	} else if (variable->kind == THREAD_WORD_MODULE) {
		place->way = CONTEXT_DYNAMIC;
	}
	if (place->way != CONTEXT_DYNAMIC) {
		place->way = CONTEXT_STATIC;
		place->offset = (s64)at[0];
	} else {
		place->module = (u32)at[0];
		place->offset = (s64)at[1];
	}
	if (!at[0] ||
	    (place->way == CONTEXT_DYNAMIC && (at[0] > CONTEXT_MODULES_MAX || place->offset < 0)))
		place->way = CONTEXT_NONE;
}

static void set_context_place_by_elf_image(struct search *search, const struct image *image,
					   const char *line, struct context_place *place)
{
	const struct thread_variable *variable;
	int file = open_file_of_mapping(place->tgid, image, line);

	if (file < 0)
		return;
	variable = find_variable_in_file(search, file);
	if (variable && is_program_of_process(place->tgid, file)) {
		place->way = CONTEXT_STATIC;
		place->offset = variable->distance;
	} else if (variable) {
		set_context_place_by_linker_words(place->tgid, image, variable, place);
	}
	close(file);
}

static struct known_user *find_or_add_user(struct search *search, uid_t uid)
{
	if (!uid)
		return NULL;
	for (u32 i = 0; i < search->user_count; i++)
		if (search->users[i].uid == uid)
			return &search->users[i];
	if (search->user_count == USERS_MAX)
		return &search->users[uid % USERS_MAX];
	search->users[search->user_count] = (struct known_user){.uid = uid};
	return &search->users[search->user_count++];
}

/* True if a visit of the process, or USER_HANGS visits of its user's processes, have not ended. */
static bool is_process_skipped_after_hangs(const struct search *search,
					   const struct context_place *place, uid_t uid)
{
	u32 of_user = 0;

	for (u32 i = 0; i < search->hang_count && i < HANGS_MAX; i++) {
		const struct visit *hang = &search->hangs[i];

		if (hang->tgid == place->tgid && hang->process == place->process)
			return true;
		of_user += hang->uid == uid;
	}
	return uid && of_user >= USER_HANGS;
}

/* Searches the files of a process for the variable, and the process's mappings for its context.
 * Sets *place and search->context. False: the process has ended. */
static bool find_variable_place(struct search *search, struct context_place *place)
{
	char path[40], line[PATH_BYTES + 128];
	struct image image, last = {};
	u32 images = 0;
	FILE *maps;

	place->way = CONTEXT_NONE;
	place->offset = 0;
	place->module = 0;
	search->has_failed = false;
	search->context = 0;
	snprintf(path, sizeof(path), "/proc/%u/maps", place->tgid);
	maps = fopen(path, "re");
	if (!maps)
		return errno != ENOENT && errno != ESRCH;
	for (u32 i = 0; i < LINES_MAX && fgets(line, sizeof(line), maps); i++) {
		if (!search->context)
			search->context = context_address_in_maps_line(place->tgid, line);
		if (images == IMAGES_MAX || place->way != CONTEXT_NONE ||
		    !parse_first_byte_mapping(line, &image) ||
		    (image.inode == last.inode && image.device == last.device))
			continue;
		last = image;
		images++;
		set_context_place_by_elf_image(search, &image, line, place);
	}
	fclose(maps);
	if (place->way == CONTEXT_NONE && search->has_failed)
		place->way = CONTEXT_UNKNOWN;
	return true;
}

/* Makes a process due at once, for the program that it runs now. */
static void reset_process(struct known_process *process, const struct context_place *place)
{
	bool is_same = process->process == place->process;
	bool is_program = is_same && process->execs == place->execs;

	*process = (struct known_process){
		.key = process->key,
		.process = place->process,
		.execs = place->execs,
		.published = is_program ? process->published : 0,
		.sent = process->sent,
		.has_earlier =
			is_same && (process->has_earlier || (!is_program && process->published)),
		.interval = AGAIN_MS_MIN,
	};
}

static struct known_process *find_or_add_process(struct search *search, u32 key,
						 const struct context_place *place)
{
	struct known_process *process = NULL;

	for (u32 i = 0; i < search->process_count && !process; i++)
		if (search->processes[i].key == key)
			process = &search->processes[i];
	if (!process) {
		if (array_make_room(search->processes, search->process_count, search->process_room))
			return NULL;
		process = &search->processes[search->process_count++];
		*process = (struct known_process){.key = key};
	}
	if (process->process != place->process || process->execs != place->execs ||
	    (place->way == CONTEXT_UNKNOWN && !process->has_failed))
		reset_process(process, place);
	process->is_met = 1;
	return process;
}

/* Visits a process, and completes *place. False: the process has ended. */
static bool visit_process(struct search *search, struct known_process *process, uid_t uid,
			  struct context_place *place)
{
	u64 begin = clock_ms();
	bool is_alive;

	search->visit->process = place->process;
	search->visit->tgid = place->tgid;
	search->visit->uid = uid;
	set_visit_deadline(search, begin + VISIT_MS);
	is_alive = find_variable_place(search, place);
	if (is_alive)
		send_context(search, process, place->tgid);
	set_visit_deadline(search, 0);
	if (search->user)
		search->user->spent += clock_ms() - begin;
	process->has_failed = place->way == CONTEXT_UNKNOWN;
	return is_alive;
}

static void visit_process_if_due_and_update_map(struct search *search, u32 key)
{
	struct known_process *process;
	struct context_place place, found;
	u64 now = clock_ms();
	bool is_alive;
	uid_t uid;

	if (call_bpf_map_command(BPF_MAP_LOOKUP_ELEM, search->map, &key, &place, 0))
		return;
	process = find_or_add_process(search, key, &place);
	if (!process || now < process->next)
		return;
	is_alive = process_contexts_read_user(place.tgid, &uid);
	search->user = find_or_add_user(search, uid);
	if (is_alive && search->user && search->user->spent >= USER_ROUND_MS)
		return;
	process->next = now + process->interval;
	process->interval =
		process->interval < AGAIN_MS_MAX / 2 ? process->interval * 2 : AGAIN_MS_MAX;
	found = place;
	if (is_alive && is_process_skipped_after_hangs(search, &place, uid)) {
		/* A place that was found is forgotten, too, since changes of the place are not
		 * noticed any more. */
		found.way = CONTEXT_UNKNOWN;
		found.offset = 0;
		found.module = 0;
		process->has_failed = true;
	} else if (is_alive)
		is_alive = visit_process(search, process, uid, &found);
	if (!is_alive)
		call_bpf_map_command(BPF_MAP_DELETE_ELEM, search->map, &key, NULL, 0);
	else if (memcmp(&found, &place, sizeof(found)))
		call_bpf_map_command(BPF_MAP_UPDATE_ELEM, search->map, &key, &found, BPF_EXIST);
}

static void find_places_of_requested_processes(struct search *search)
{
	u32 key, next, kept = 0;
	bool has_next = !call_bpf_map_command(BPF_MAP_GET_NEXT_KEY, search->map, NULL, &next, 0);

	for (u32 i = 0; i < search->user_count; i++)
		search->users[i].spent = 0;
	for (u32 i = 0; has_next && i < 2 * CONTEXT_PLACES_MAX; i++) {
		key = next;
		has_next = !call_bpf_map_command(BPF_MAP_GET_NEXT_KEY, search->map, &key, &next, 0);
		visit_process_if_due_and_update_map(search, key);
	}
	for (u32 i = 0; i < search->process_count; i++)
		if (search->processes[i].is_met) {
			search->processes[kept] = search->processes[i];
			search->processes[kept++].is_met = 0;
		}
	search->process_count = kept;
}

/* Returns the CPU time of this process and of its sandbox. */
static u64 cpu_time_of_search(const struct search *search)
{
	u64 own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	pid_t sandbox = search->lookup ? (pid_t)symbol_lookup_sandbox_pid(search->lookup) : 0;
	clockid_t clock;

	return sandbox && !clock_getcpuclockid(sandbox, &clock) ? own + clock_ns(clock) : own;
}

/* The sandbox is created before the capabilities are given up, as its confinement needs some. */
static void run_visitor_loop(struct search *search)
{
	struct pollfd parent = {.fd = search->socket, .events = POLLIN};
	int pause = ROUND_MS, took;
	u64 begin, end;

	if (symbol_lookup_create(PARTS, &search->lookup))
		return;
	if (capability_keep_only(CAPABILITIES_READING))
		pause = -1;
	while (pause > 0 && poll(&parent, 1, pause) == 0) {
		begin = cpu_time_of_search(search);
		find_places_of_requested_processes(search);
		end = cpu_time_of_search(search); /* less than `begin` after a new sandbox */
		took = end > begin ? (int)((end - begin) / NS_PER_MS) : 0;
		pause = took * ROUND_PAUSES > ROUND_MS ? took * ROUND_PAUSES : ROUND_MS;
	}
	symbol_lookup_free(&search->lookup);
	free(search->files);
	free(search->processes);
}

/* --- the worker, which starts visitors and only looks at their visits --- */

/* Starts a visitor. Each visitor shares another page with the worker, as the visitor before it may
 * not have died yet. */
static int start_visitor(struct search *search)
{
	struct visit *visit = mmap(NULL, sizeof(*visit), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t worker = getpid();

	if (visit == MAP_FAILED)
		return -errno;
	if (search->visit)
		munmap(search->visit, sizeof(*search->visit));
	search->visit = visit;
	search->visitor = fork();
	if (!search->visitor) {
		if (!prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) && getppid() == worker)
			run_visitor_loop(search);
		_exit(0);
	}
	return search->visitor < 0 ? -errno : 0;
}

/*
 * Checks whether the visit ends in time. False: no visitor runs any more. A visit is given up when
 * two looks in a row find it after its deadline, since this process may have been stopped together
 * with the visitor. *overdue: deadline of the visit that the last look has found after its
 * deadline; 0: the last look has found no such visit. A visitor that dies in a visit is replaced as
 * one whose visit does not end.
 */
static bool check_visitor(struct search *search, u64 *overdue)
{
	bool has_died = false, is_late;
	struct visit hang;
	u64 deadline;
	pid_t child;

	/* Reaps all visitors that have died. */
	while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
		has_died |= child == search->visitor;
	deadline = __atomic_load_n(&search->visit->deadline, __ATOMIC_ACQUIRE);
	is_late = deadline && clock_ms() > deadline;
	if (has_died && !deadline)
		return false;
	if (!has_died && !(is_late && deadline == *overdue)) {
		*overdue = is_late ? deadline : 0;
		return true;
	}
	*overdue = 0;
	if (!has_died)
		kill(search->visitor, SIGKILL);
	hang = *search->visit;
	if (hang.deadline == deadline) /* a different deadline: the visit has ended just now */
		search->hangs[search->hang_count++ % HANGS_MAX] = hang;
	return !start_visitor(search);
}

static void run_context_finder_loop(int socket)
{
	static struct search search;
	struct pollfd parent = {.fd = socket, .events = POLLIN};
	int files[MESSAGE_FILES_MAX];
	u64 overdue = 0;
	u32 request;

	if (message_receive_files(socket, &request, sizeof(request), files, MESSAGE_NO_DEADLINE))
		return;
	search.map = files[0];
	search.socket = socket;
	if (search.map < 0 || start_visitor(&search))
		return;
	while (poll(&parent, 1, LOOK_MS) == 0 && check_visitor(&search, &overdue)) {
	}
	if (search.visitor > 0)
		kill(search.visitor, SIGKILL);
}

/* --- the recorder's side --- */

int context_finder_start(int map, struct context_finder **out)
{
	struct context_finder *finder = calloc(1, sizeof(*finder));
	u32 request = 0;
	int result = finder ? process_contexts_create(&finder->contexts) : -ENOMEM;

	result = result ?: file_worker_start(run_context_finder_loop, &finder->worker);
	if (result) {
		if (finder)
			process_contexts_free(&finder->contexts);
		free(finder);
		return result;
	}
	*out = finder;
	return message_send_files(finder->worker.socket, &request, sizeof(request), &map, 1,
				  MESSAGE_NO_DEADLINE);
}

void context_finder_collect(struct context_finder *finder)
{
	struct published *buffer = &finder->buffer;
	ssize_t bytes;

	while ((bytes = recv(finder->worker.socket, buffer, sizeof(*buffer), MSG_DONTWAIT)) > 0) {
		const struct trace_process process = {
			.tgid = buffer->tgid,
			.since = buffer->since,
			.program = (u16)buffer->program,
			.bytes = buffer->bytes,
			.message = buffer->message,
		};

		if ((size_t)bytes < offsetof(struct published, message) ||
		    (size_t)bytes != offsetof(struct published, message) + (u64)buffer->bytes)
			continue;
		if (buffer->is_withdrawn)
			process_contexts_drop(finder->contexts, process.tgid, process.since);
		else
			process_contexts_keep(finder->contexts, &process, buffer->uid);
	}
}

struct process_contexts *context_finder_contexts(struct context_finder *finder)
{
	return finder->contexts;
}

void context_finder_end(struct context_finder **finder)
{
	if (!*finder)
		return;
	process_contexts_free(&(*finder)->contexts);
	file_worker_end(&(*finder)->worker, 0);
	free(*finder);
	*finder = NULL;
}
