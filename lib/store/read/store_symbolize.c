/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects are handled one after the other. The program reads those frames of the object that have
 * no debug information yet, looks all of them up at once, and sends rows back if it found anything
 * new. Each day gets rows of its own, because a day is dropped as a whole.
 */
#include "store/read/store_symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "error.h"
#include "hex.h"
#include "order.h"
#include "store/wire/row_binary.h"

/*
 * The list of a folder's files has only files with code, because a file with debug information
 * alone does not have the addresses of code. Symbolic links are not followed, so the walk through
 * the folder ends and does not leave the folder.
 */

#define ELF_MAGIC "\177ELF"

struct code_file {
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 bytes;
	char *path;
};

struct debug_folder {
	struct code_file *files;
	u32 count, room;
};

static int add_code_file_to_debug_folder(struct debug_folder *files, const FTSENT *entry,
					 size_t folder_bytes, struct debug_lookup *lookup)
{
	int file = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char magic[sizeof(ELF_MAGIC) - 1];
	struct debug_link link;
	struct code_file found;
	bool is_code;

	if (file < 0)
		return 0;
	is_code = pread(file, magic, sizeof(magic), 0) == sizeof(magic) &&
		  !memcmp(magic, ELF_MAGIC, sizeof(magic)) &&
		  debug_lookup_read_debug_link(lookup, file, &link) && link.build_id_bytes &&
		  link.has_code;
	close(file);
	if (!is_code)
		return 0;
	found = (struct code_file){.bytes = link.build_id_bytes,
				   .path = strdup(entry->fts_path + folder_bytes)};
	if (!found.path || array_make_room(files->files, files->count, files->room)) {
		free(found.path);
		return -ENOMEM;
	}
	memcpy(found.build_id, link.build_id, link.build_id_bytes);
	files->files[files->count++] = found;
	return 0;
}

int debug_folder_create(const char *folder, struct debug_lookup *lookup, struct debug_folder **out)
{
	struct debug_folder *files = calloc(1, sizeof(*files));
	char *path = realpath(folder, NULL);
	int err = !files ? -ENOMEM : path ? 0 : -errno;
	char *const folders[] = {path, NULL};
	FTS *tree = err ? NULL : fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	if (!err && !tree)
		err = -errno;
	for (FTSENT *entry; !err && (entry = fts_read(tree));)
		if (entry->fts_info == FTS_F)
			err = add_code_file_to_debug_folder(files, entry, strlen(path), lookup);
	if (tree)
		fts_close(tree);
	free(path);
	if (err)
		debug_folder_free(&files);
	else
		*out = files;
	return err;
}

void debug_folder_free(struct debug_folder **files)
{
	if (!*files)
		return;
	for (u32 i = 0; i < (*files)->count; i++)
		free((*files)->files[i].path);
	free((*files)->files);
	free(*files);
	*files = NULL;
}

const char *debug_folder_find(const struct debug_folder *files, const u8 *build_id, u32 bytes)
{
	for (u32 i = 0; i < files->count; i++)
		if (files->files[i].bytes == bytes &&
		    !memcmp(files->files[i].build_id, build_id, bytes))
			return files->files[i].path;
	return NULL;
}

#define DAY_SECONDS 86400
#define ANSWER_BYTES_MAX (256ULL << 20)
#define OBJECT_BYTES 16
#define FRAMES_MAX (1U << 22)
#define RANK_DEBUG_INFORMATION 2
#define INSERT_BYTES (4U << 20)
/* Kernel frames are stored as offsets, so the lookup may use any start address. */
#define KERNEL_START 0xffffffff81000000ULL
#define KERNEL_BYTES (1ULL << 30)
#define KERNEL_PATH "[kernel.kallsyms]"

struct object {
	u8 id[OBJECT_BYTES];
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 build_id_bytes;
	char *path;
	bool is_kernel;
};

/* A frame with the symbol that its host has sent. */
struct frame {
	u16 day;
	u64 offset, start, size;
	char *function; /* name of the function; "": the frame has no name */
};

struct symbolizing {
	struct clickhouse *server;
	struct debug_lookup *lookup;
	const struct debug_folder *files; /* files of the sysroot, found by build id; NULL: no
					     sysroot */
	struct symbolize_counts *counts;
	u32 first_day;
	struct object *objects;
	u32 object_count, object_room;
	struct frame *frames; /* frames of the current object, ascending by offset */
	u32 frame_count, frame_room;
	struct byte_buffer rows;
};

static int set_memory_error(const struct symbolizing *all, struct stackmap_error *error)
{
	return error_set_errno(error, ENOMEM, clickhouse_name(all->server));
}

typedef int (*take_row)(struct symbolizing *all, struct byte_cursor *row);

static int query_rows_of_server(struct symbolizing *all, const char *sql,
				const struct clickhouse_table *table, take_row take,
				struct stackmap_error *error)
{
	struct byte_buffer answer = {};
	struct byte_cursor rows;
	int err = clickhouse_query(all->server, sql, table, table != NULL, ANSWER_BYTES_MAX,
				   &answer, NULL, error);

	rows = (struct byte_cursor){.at = answer.data, .end = answer.data + answer.used};
	while (!err && !rows.bad && byte_cursor_left(&rows))
		if (take(all, &rows))
			err = set_memory_error(all, error);
	if (!err && rows.bad)
		err = error_set(error, EBADMSG, "%s: its answer is cut or damaged",
				clickhouse_name(all->server));
	byte_buffer_free(&answer);
	return err;
}

/* --- objects --- */

static int read_object_row(struct symbolizing *all, struct byte_cursor *row)
{
	struct object object = {};
	const u8 *id = row_get_bytes(row, OBJECT_BYTES);
	char *build_id = row_get_string(row);

	object.path = row_get_string(row);
	object.is_kernel = row_get_u8(row);
	if (!row->bad && build_id) {
		size_t bytes = strlen(build_id) / 2;

		memcpy(object.id, id, OBJECT_BYTES);
		/* An invalid text leaves the object without a build id. */
		if (strlen(build_id) % 2 == 0 && bytes <= sizeof(object.build_id) &&
		    hex_bytes(build_id, object.build_id, (u32)bytes) == bytes)
			object.build_id_bytes = (u32)bytes;
	}
	free(build_id);
	if (!object.path || array_make_room(all->objects, all->object_count, all->object_room)) {
		free(object.path);
		return -ENOMEM;
	}
	all->objects[all->object_count++] = object;
	return 0;
}

/* --- the frames of an object --- */

static int read_frame_row(struct symbolizing *all, struct byte_cursor *row)
{
	struct frame frame = {.day = row_get_u16(row)};

	frame.offset = row_get_u64(row);
	frame.start = row_get_u64(row);
	frame.size = row_get_u64(row);
	frame.function = row_get_string(row);
	if (!frame.function || all->frame_count == FRAMES_MAX ||
	    array_make_room(all->frames, all->frame_count, all->frame_room)) {
		free(frame.function);
		return -ENOMEM;
	}
	all->frames[all->frame_count++] = frame;
	return 0;
}

static void clear_frames(struct symbolizing *all)
{
	for (u32 i = 0; i < all->frame_count; i++)
		free(all->frames[i].function);
	all->frame_count = 0;
}

static int compare_frames_by_offset(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return order(x->offset, y->offset) ?: order(x->day, y->day);
}

static int query_frames_of_object(struct symbolizing *all, const struct object *object,
				  struct stackmap_error *error)
{
	const struct clickhouse_table table = {.name = "wanted",
					       .structure = "object FixedString(16)",
					       .rows = object->id,
					       .bytes = OBJECT_BYTES};
	char sql[512];
	int err;

	snprintf(sql, sizeof(sql),
		 "SELECT day, offset, argMax(start, rank), argMax(size, rank), "
		 "argMax(arrayElement(functions, -1), rank) FROM frames WHERE object IN wanted AND "
		 "day >= toDate(%u) GROUP BY day, offset HAVING max(rank) < %u FORMAT RowBinary",
		 all->first_day, RANK_DEBUG_INFORMATION);
	clear_frames(all);
	err = query_rows_of_server(all, sql, &table, read_frame_row, error);
	if (!err && all->frame_count)
		qsort(all->frames, all->frame_count, sizeof(*all->frames),
		      compare_frames_by_offset);
	return err;
}

/* --- names --- */

static int look_up_debug_names_of_object(struct symbolizing *all, const struct object *object,
					 const u64 *places, u32 count, struct debug_names **names)
{
	const char *path =
		all->files ? debug_folder_find(all->files, object->build_id, object->build_id_bytes)
			   : NULL;
	struct trace_mapping mapping = {.kind = MAPPING_FILE,
					.build_id_bytes = object->build_id_bytes,
					.path = path ?: object->path};
	struct trace_module module = {.name = "vmlinux",
				      .start = KERNEL_START,
				      .end = KERNEL_START + KERNEL_BYTES,
				      .build_id_bytes = object->build_id_bytes};
	struct debug_code code = {.release = ""};

	memcpy(mapping.build_id, object->build_id, sizeof(mapping.build_id));
	memcpy(module.build_id, object->build_id, sizeof(module.build_id));
	if (object->is_kernel)
		code.module = &module;
	else
		code.mapping = &mapping;
	return debug_lookup_find_names(all->lookup, &code, places, count, names);
}

static u64 base_of_debug_info_offsets(const struct object *object)
{
	return object->is_kernel ? KERNEL_START : 0;
}

/*
 * The name and bounds of the outermost function. If two symbols contain the frame, the one
 * with the higher start wins, as in reports.
 */
static const char *choose_stored_or_looked_up_symbol(const struct frame *frame,
						     const struct debug_name *name, u64 base,
						     u64 *start, u64 *size)
{
	bool is_named = *frame->function;

	*start = frame->start;
	*size = frame->size;
	if (name->symbol && (!is_named || name->symbol_start - base > frame->start)) {
		*start = name->symbol_start - base;
		*size = name->symbol_size;
		return name->symbol;
	}
	if (is_named || !name->count)
		return frame->function;
	return name->functions[name->count - 1].function ?: "";
}

static void append_frame_row(struct symbolizing *all, const struct object *object,
			     const struct frame *frame, const struct debug_name *name)
{
	struct byte_buffer *rows = &all->rows;
	u32 count = name->count ?: 1;
	u64 start, size;
	const char *function = choose_stored_or_looked_up_symbol(
		frame, name, base_of_debug_info_offsets(object), &start, &size);

	row_put_u16(rows, frame->day);
	row_put_bytes(rows, object->id, OBJECT_BYTES);
	row_put_u64(rows, frame->offset);
	row_put_u64(rows, start);
	row_put_u64(rows, size);
	row_put_count(rows, count);
	for (u32 i = 0; i + 1 < count; i++)
		row_put_text(rows, name->functions[i].function ?: "");
	row_put_text(rows, function);
	row_put_count(rows, name->count);
	for (u32 i = 0; i < name->count; i++)
		row_put_text(rows, name->functions[i].file ?: "");
	row_put_count(rows, name->count);
	for (u32 i = 0; i < name->count; i++)
		row_put_u32(rows, name->functions[i].line);
	row_put_u8(rows, RANK_DEBUG_INFORMATION);
}

static int send_frame_rows(struct symbolizing *all, struct stackmap_error *error)
{
	int err = 0;

	if (all->rows.failed)
		return set_memory_error(all, error);
	if (all->rows.used)
		err = clickhouse_insert(all->server, "frames", all->rows.data, all->rows.used, NULL,
					NULL, error);
	byte_buffer_clear(&all->rows);
	return err;
}

static int append_rows_of_named_frames(struct symbolizing *all, const struct object *object,
				       const struct debug_names *names,
				       struct stackmap_error *error)
{
	u64 named = 0;
	int err = 0;

	for (u32 i = 0; i < all->frame_count && !err; i++) {
		const struct frame *frame = &all->frames[i];
		const struct debug_name *name =
			debug_names_at(names, base_of_debug_info_offsets(object) + frame->offset);

		/* Only names and lines that the host did not have are sent. */
		if (!name || (!name->count && (!name->symbol || *frame->function)))
			continue;
		append_frame_row(all, object, frame, name);
		named++;
		if (all->rows.used >= INSERT_BYTES)
			err = send_frame_rows(all, error);
	}
	all->counts->named += named;
	all->counts->named_objects += named > 0;
	return err;
}

static int symbolize_object(struct symbolizing *all, const struct object *object,
			    struct stackmap_error *error)
{
	u64 *places = calloc(all->frame_count, sizeof(*places));
	struct debug_names *names;
	u32 count = 0;
	int err;

	if (!places)
		return set_memory_error(all, error);
	for (u32 i = 0; i < all->frame_count; i++) {
		u64 place = base_of_debug_info_offsets(object) + all->frames[i].offset;

		if (!count || places[count - 1] != place)
			places[count++] = place;
	}
	err = look_up_debug_names_of_object(all, object, places, count, &names);
	free(places);
	if (err)
		return err == -ENOMEM ? set_memory_error(all, error) : 0;
	err = append_rows_of_named_frames(all, object, names, error);
	debug_names_free(&names);
	return err;
}

int store_symbolize(struct clickhouse *server, struct debug_lookup *lookup,
		    const struct debug_folder *files, u32 days, struct symbolize_counts *counts,
		    struct stackmap_error *error)
{
	char sql[256];
	int err;
	u32 today = (u32)(time(NULL) / DAY_SECONDS);
	struct symbolizing all = {
		.server = server,
		.lookup = lookup,
		.files = files,
		.counts = counts,
		.first_day = today > days ? today - days : 0,
	};

	snprintf(sql, sizeof(sql),
		 "SELECT object, any(build_id), any(path), any(kernel) FROM objects "
		 "WHERE day >= toDate(%u) AND kind = 1 GROUP BY object FORMAT RowBinary",
		 all.first_day);
	err = query_rows_of_server(&all, sql, NULL, read_object_row, error);
	for (u32 i = 0; i < all.object_count && !err; i++) {
		const struct object *object = &all.objects[i];
		/* Kernel modules have no debug information lookup, as in reports. */
		bool is_known = object->is_kernel ? !strcmp(object->path, KERNEL_PATH)
						  : object->path[0] == '/';

		if (!object->build_id_bytes || !is_known)
			continue;
		err = query_frames_of_object(&all, &all.objects[i], error);
		if (err || !all.frame_count)
			continue;
		counts->objects++;
		counts->frames += all.frame_count;
		err = symbolize_object(&all, &all.objects[i], error);
	}
	err = err ?: send_frame_rows(&all, error);
	for (u32 i = 0; i < all.object_count; i++)
		free(all.objects[i].path);
	free(all.objects);
	clear_frames(&all);
	free(all.frames);
	byte_buffer_free(&all.rows);
	return err;
}
