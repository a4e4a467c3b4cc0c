/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ftrace/entry.h"

#include <errno.h>
#include <string.h>

bool ftrace_batch_put(u8 batch[FTRACE_BATCH_BYTES], u32 *used, const struct ftrace_entry *entry,
		      const void *payload)
{
	u8 *to = batch + *used;

	if (sizeof(*entry) + entry->bytes > FTRACE_BATCH_BYTES - *used)
		return false;
	memcpy(to, entry, sizeof(*entry));
	if (entry->bytes)
		memcpy(to + sizeof(*entry), payload, entry->bytes);
	*used += (u32)sizeof(*entry) + entry->bytes;
	return true;
}

static bool is_valid_entry(const struct ftrace_entry *entry, const u8 *payload)
{
	if (entry->context >= FTRACE_CONTEXTS)
		return false;
	switch (entry->what) {
	case FTRACE_SOURCE:
		return entry->bytes <= FTRACE_NAME_BYTES_MAX &&
		       (entry->bytes && !payload[entry->bytes - 1] &&
			strlen((const char *)payload) == entry->bytes - 1);
	case FTRACE_TASK:
		return entry->bytes == FTRACE_COMM_BYTES && !payload[FTRACE_COMM_BYTES - 1];
	case FTRACE_STACK:
	case FTRACE_USER_STACK:
		return entry->bytes % sizeof(u64) == 0;
	default:
		return entry->what < FTRACE_WHATS && !entry->bytes;
	}
}

int ftrace_batch_read(const u8 *batch, u32 bytes, ftrace_take *take, void *arg)
{
	u64 payload[FTRACE_FRAMES_MAX]; /* the payload of an entry, in aligned memory */
	struct ftrace_entry entry;
	int err = 0;

	for (u32 at = 0; !err && at < bytes; at += (u32)sizeof(entry) + entry.bytes) {
		if (bytes - at < sizeof(entry))
			return -EBADMSG;
		memcpy(&entry, batch + at, sizeof(entry));
		if (entry.bytes > sizeof(payload) || entry.bytes > bytes - at - sizeof(entry))
			return -EBADMSG;
		memcpy(payload, batch + at + sizeof(entry), entry.bytes);
		if (!is_valid_entry(&entry, (const u8 *)payload))
			return -EBADMSG;
		err = take(arg, &entry, payload);
	}
	return err;
}
