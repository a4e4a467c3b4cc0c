/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The address of the futex and the operation are read from /proc/TID/syscall, the lock from
 * /proc/TID/mem. */
#include "capture/file/lock_holders.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array.h"
#include "capture/load/skeleton.h"
#include "clock.h"

#define GLIBC_CONTENDED 2U
#define GLIBC_OWNER 2 /* index of __owner, in words of 4 bytes from the futex word */
#define WORDS 3

u32 futex_lock_holder(const u32 words[WORDS], u32 operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return words[0] & FUTEX_TID_MASK;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		if (words[0] == GLIBC_CONTENDED)
			return words[GLIBC_OWNER];
		return words[0] & FUTEX_WAITERS ? words[0] & FUTEX_TID_MASK : 0;
	default:
		return 0;
	}
}

static bool read_futex_words_of_thread(u32 tid, u64 address, u32 words[WORDS])
{
	char path[64];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/mem", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = pread(fd, words, WORDS * sizeof(*words), (off_t)address);
		close(fd);
	}
	return got == WORDS * sizeof(*words);
}

/* Returns the id of the thread that holds the lock for which thread `tid` waits; 0: no lock, or the
 * holder is not known. */
static u32 find_holder_for_waiter(u32 tid)
{
	unsigned long long address, operation;
	u32 words[WORDS], holder = 0;
	char path[64];
	FILE *file;
	int number;

	snprintf(path, sizeof(path), "/proc/%u/syscall", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%d %llx %llx", &number, &address, &operation) == 3 &&
	    number == SYS_futex && read_futex_words_of_thread(tid, address, words))
		holder = futex_lock_holder(words, (u32)operation);
	fclose(file);
	/* The holder must be another thread of the same process. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u", tid, holder);
	return holder && holder != tid && access(path, F_OK) == 0 ? holder : 0;
}

void lock_holders_find(struct loaded *loaded, struct lock_holders *list)
{
	const struct bpf_map *map = loaded_programs(loaded)->maps.blocked;
	u32 steps = bpf_map__max_entries(map), tid, *before = NULL;
	int map_fd = bpf_map__fd(map);

	for (; steps && !bpf_map_get_next_key(map_fd, before, &tid); steps--) {
		struct blocked blocked;
		u32 holder = find_holder_for_waiter(tid);

		before = &tid;
		if (!holder || bpf_map_lookup_elem(map_fd, &tid, &blocked))
			continue;
		if (array_make_room(list->items, list->count, list->room))
			return;
		list->items[list->count++] =
			(struct lock_holder){.since = blocked.since, .tid = holder};
	}
}

void lock_holders_record(struct loaded *loaded, struct lock_holders *list)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);

	for (u32 i = 0; i < list->count; i++) {
		const struct lock_holder *holder = &list->items[i];
		const struct event_slot event = {
			.tid = holder->tid,
			.stamp = STAMP_OF(now, loaded->plan.holder_kind,
					  EVENT_FLAGS(STATE_NONE, STATE_NONE)),
			.kernel = REASON_NO_FRAMES,
			.user = REASON_NO_FRAMES};

		loaded_write_event(loaded, &event, now - holder->since);
	}
	free(list->items);
	*list = (struct lock_holders){};
}
