/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file has a head, and for each question a part: its head, the places, texts and items of the
 * answer as the sandbox gave them, which are checked again as if it had just done so. The checksum
 * covers all of it: a name with a flipped bit would pass every other check.
 */
#include "debug_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "cache_folder.h"

#define MAGIC 0x43474453 /* SDGC */
#define VERSION 3
#define FILE_BYTES_MAX (64U << 20)
#define PARTS_MAX 64

struct cache_head {
	u32 magic;
	u32 version;
	u32 checksum; /* of the file, with 0 here */
	u32 parts;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 is_kernel;
	u32 reserved;
	struct debug_source source;
};

struct cache_part {
	u32 places;
	u32 items;
	u64 bytes; /* of texts and items */
	u32 text_bytes;
	u32 reserved;
};

int debug_source_of(int debug, int code, struct debug_source *source)
{
	struct stat status, code_status = {};

	if (fstat(debug, &status) || (code >= 0 && fstat(code, &code_status)))
		return -errno;
	*source = (struct debug_source){.bytes = status.st_size,
					.seconds = status.st_mtim.tv_sec,
					.nanoseconds = status.st_mtim.tv_nsec,
					.code_bytes = code_status.st_size};
	return 0;
}

bool debug_source_equal(const struct debug_source *a, const struct debug_source *b)
{
	return a->bytes == b->bytes && a->seconds == b->seconds &&
	       a->nanoseconds == b->nanoseconds &&
	       (!a->code_bytes || !b->code_bytes || a->code_bytes == b->code_bytes);
}

static void name_of(const struct debug_cache_key *key, char name[2 * TRACE_BUILD_ID_MAX + 1])
{
	for (u32 i = 0; i < key->build_id_bytes; i++)
		sprintf(name + 2 * i, "%02x", key->build_id[i]);
}

static struct cache_head head_of(const struct debug_cache_key *key)
{
	struct cache_head head = {.magic = MAGIC,
				  .version = VERSION,
				  .build_id_bytes = key->build_id_bytes,
				  .is_kernel = key->stext != 0};

	memcpy(head.build_id, key->build_id, key->build_id_bytes);
	return head;
}

static u32 checksum_of(void *file, size_t bytes)
{
	struct cache_head *head = file;
	u32 kept = head->checksum, sum;

	head->checksum = 0;
	sum = crc32_z(0, file, bytes);
	head->checksum = kept;
	return sum;
}

static bool is_ours(const struct debug_cache_key *key, char *file, size_t bytes)
{
	struct cache_head head, wanted = head_of(key);

	if (bytes < sizeof(head))
		return false;
	memcpy(&head, file, sizeof(head));
	wanted.checksum = head.checksum;
	wanted.parts = head.parts;
	wanted.source = head.source;
	return !memcmp(&head, &wanted, sizeof(head)) && checksum_of(file, bytes) == head.checksum;
}

struct cursor {
	const char *at;
	const char *end;
};

static size_t left_of(const struct cursor *cursor)
{
	return cursor->end - cursor->at;
}

static bool take(struct cursor *cursor, void *data, size_t bytes)
{
	if (left_of(cursor) < bytes)
		return false;
	memcpy(data, cursor->at, bytes);
	cursor->at += bytes;
	return true;
}

/* A kernel's places are kept as distances from its _stext. */
static bool take_places(struct cursor *cursor, u64 stext, u64 *places, u32 count)
{
	if (!take(cursor, places, count * sizeof(*places)))
		return false;
	for (u32 i = 0; i < count; i++) {
		places[i] += stext;
		if (i && places[i - 1] >= places[i])
			return false;
	}
	return true;
}

static int take_answer(struct cursor *cursor, const struct cache_part *part, u64 stext, u64 *places,
		       struct debug_names **out)
{
	const struct debug_answer answer = {
		.items = part->items, .text_bytes = part->text_bytes, .bytes = part->bytes};
	char *data = malloc(part->bytes + 1);
	int result = -EBADMSG;

	if (data && take_places(cursor, stext, places, part->places) &&
	    take(cursor, data, part->bytes))
		result = debug_items_take(data, &answer, places, part->places, stext, out);
	if (result)
		free(data);
	return result;
}

static int take_part(struct cursor *cursor, u64 stext, struct debug_names **out)
{
	struct cache_part part;
	u64 *places;
	int result;

	if (!take(cursor, &part, sizeof(part)) || part.places > left_of(cursor) / sizeof(*places) ||
	    part.bytes > left_of(cursor))
		return -EBADMSG;
	places = calloc(part.places + 1UL, sizeof(*places));
	if (!places)
		return -ENOMEM;
	result = take_answer(cursor, &part, stext, places, out);
	free(places);
	return result;
}

/* In their order. */
static int take_parts(const char *file, size_t bytes, u64 stext, struct debug_names **out)
{
	struct cursor cursor = {file + sizeof(struct cache_head), file + bytes};
	struct cache_head head;
	int result = 0;

	memcpy(&head, file, sizeof(head));
	for (u32 i = 0; i < head.parts && !result; i++) {
		result = take_part(&cursor, stext, out);
		if (!result)
			out = &(*out)->next;
	}
	return result || cursor.at != cursor.end || !head.parts ? -ENOENT : 0;
}

int debug_cache_read(int folder, const struct debug_cache_key *key, struct debug_source *source,
		     struct debug_names **out)
{
	char name[2 * TRACE_BUILD_ID_MAX + 1], *file;
	struct debug_names *names = NULL;
	int result = -ENOENT;
	size_t bytes;

	name_of(key, name);
	if (cache_folder_read(folder, name, FILE_BYTES_MAX, &file, &bytes))
		return -ENOENT;
	if (is_ours(key, file, bytes))
		result = take_parts(file, bytes, key->stext, &names);
	if (result) {
		debug_names_free(&names);
	} else {
		*source = ((struct cache_head *)file)->source;
		*out = names;
	}
	free(file);
	return result;
}

static size_t part_bytes(const struct debug_names *names)
{
	return sizeof(struct cache_part) + names->asked_count * sizeof(u64) + names->bytes;
}

static u32 count_parts(const struct debug_names *names, size_t *bytes)
{
	u32 parts = 0;

	*bytes = sizeof(struct cache_head);
	for (; names && parts < PARTS_MAX && part_bytes(names) <= FILE_BYTES_MAX - *bytes;
	     names = names->next, parts++)
		*bytes += part_bytes(names);
	return parts;
}

static char *put(char *at, const void *data, size_t bytes)
{
	memcpy(at, data, bytes);
	return at + bytes;
}

static char *put_part(char *at, u64 stext, const struct debug_names *names)
{
	const struct cache_part part = {.places = names->asked_count,
					.items = names->count,
					.bytes = names->bytes,
					.text_bytes = names->text_bytes};

	at = put(at, &part, sizeof(part));
	for (u32 i = 0; i < names->asked_count; i++) {
		u64 place = names->asked[i] - stext;

		at = put(at, &place, sizeof(place));
	}
	return put(at, names->data, names->bytes);
}

static void make_file(const struct cache_head *head, u64 stext, const struct debug_names *names,
		      char *file, size_t bytes)
{
	char *at = put(file, head, sizeof(*head));

	for (u32 i = 0; i < head->parts; i++, names = names->next)
		at = put_part(at, stext, names);
	((struct cache_head *)file)->checksum = checksum_of(file, bytes);
}

void debug_cache_write(int folder, const struct debug_cache_key *key,
		       const struct debug_source *source, const struct debug_names *names)
{
	struct cache_head head = head_of(key);
	char name[2 * TRACE_BUILD_ID_MAX + 1], *file;
	size_t bytes;

	head.source = *source;
	head.parts = count_parts(names, &bytes);
	file = head.parts ? malloc(bytes) : NULL;
	if (!file)
		return;
	make_file(&head, key->stext, names, file, bytes);
	name_of(key, name);
	if (!cache_folder_replace(folder, name, file, bytes))
		cache_folder_trim(folder, DEBUG_CACHE_BYTES_MAX);
	free(file);
}
