/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/script_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "capture/drain/recording.h"
#include "capture/load/skeleton.h"
#include "file_table.h"
#include "script.h"
#include "symbol/symbolizer/symbolizers.h"

/* The most bytes of a name: UTF-8 takes up to two bytes for a byte of Latin-1. */
#define NAME_BYTES (2 * SCRIPT_TEXT_BYTES + 1)

static const char *const paths[] = {
#define X(id, name) [SCRIPT_##id] = (name),
	SCRIPT_RUNTIMES(X)
#undef X
};

static u32 character(const struct script_text *text, u32 at)
{
	u32 value = 0;

	memcpy(&value, text->text + at, text->width);
	return value;
}

static u32 put(char *out, u32 used, u32 value)
{
	if (value < ' ' || (value >= 0x7f && value < 0xa0) || value > 0x10ffff)
		value = '?';
	if (value < 0x80) {
		out[used++] = value;
	} else if (value < 0x800) {
		out[used++] = 0xc0 | value >> 6;
		out[used++] = 0x80 | (value & 0x3f);
	} else if (value < 0x10000) {
		out[used++] = 0xe0 | value >> 12;
		out[used++] = 0x80 | (value >> 6 & 0x3f);
		out[used++] = 0x80 | (value & 0x3f);
	} else {
		out[used++] = 0xf0 | value >> 18;
		out[used++] = 0x80 | (value >> 12 & 0x3f);
		out[used++] = 0x80 | (value >> 6 & 0x3f);
		out[used++] = 0x80 | (value & 0x3f);
	}
	return used;
}

/* Converts a text to UTF-8. A text without a width has it already and ends at its first 0: in PHP's
 * name of an anonymous class the file and a number follow. False: the widths are not those of a
 * text. */
static bool text_convert(const struct script_text *text, char out[NAME_BYTES])
{
	u32 used = 0;

	if (text->bytes > SCRIPT_TEXT_BYTES || (text->width > 2 && text->width != 4))
		return false;
	for (u32 at = 0; !text->width && at < text->bytes && text->text[at]; at++)
		out[used++] = text->text[at] < ' ' || text->text[at] == 0x7f ? '?' : text->text[at];
	for (u32 at = 0; text->width && at + text->width <= text->bytes; at += text->width)
		used = put(out, used, character(text, at));
	out[used] = 0;
	return used || !text->bytes;
}

static int write_name(struct recording *recording, u32 number, u32 id,
		      const struct script_record *record)
{
	char name[NAME_BYTES], file[NAME_BYTES], owner[NAME_BYTES], all[3 * NAME_BYTES + 32];
	struct trace_symbol symbol = {
		.mapping = number, .start = SCRIPT_START(id), .size = SCRIPT_START(1), .name = all};
	const char *slash;

	if (!text_convert(&record->name, name) || !text_convert(&record->file, file) ||
	    !text_convert(&record->owner, owner))
		return 0;
	/* Ruby: "(eval at PATH:LINE)" */
	slash = file[0] == '(' ? NULL : strrchr(file, '/');
	snprintf(all, sizeof(all), "%s%s%s (%s:%u)", owner, owner[0] ? "::" : "",
		 name[0] ? name : "<file>", slash && slash[1] ? slash + 1 : file,
		 record->first_line);
	return trace_writer_symbol(recording->writer, &symbol);
}

int script_names_write_mapping(struct recording *recording, u32 number)
{
	const struct trace_mapping mapping = {
		.number = number, .kind = MAPPING_ANON, .path = paths[MAPPING_SCRIPT(number)]};

	if (recording->mapping_written[number])
		return 0;
	recording->mapping_written[number] = true;
	return trace_writer_mapping(recording->writer, &mapping);
}

int script_names_write(struct recording *recording, u32 number, const u64 *offsets, u32 count)
{
	int map = bpf_map__fd(loaded_programs(recording->loaded)->maps.script_records);
	int result = 0;

	for (u32 i = 0; i < count && !result; i++) {
		struct script_record record;
		u32 id = SCRIPT_ID(offsets[i]);

		if (!bpf_map_lookup_elem(map, &id, &record))
			result = write_name(recording, number, id, &record);
	}
	return result;
}

/* Writes "CPython 3.16.0". */
static void interpreter_name(const struct script_layout *layout, char *out, u32 bytes)
{
	u32 version = layout->version;

	if (layout->runtime == SCRIPT_PHP)
		snprintf(out, bytes, "PHP of module interface %u", version);
	else if (layout->runtime == SCRIPT_RUBY && version)
		snprintf(out, bytes, "Ruby %u.%u.%u", version >> 16, version >> 8 & 0xff,
			 version & 0xff);
	else if (layout->runtime == SCRIPT_RUBY)
		snprintf(out, bytes, "Ruby");
	else if (version && !(version & 0xffff)) /* a file that does not tell it (3.10) */
		snprintf(out, bytes, "CPython %u.%u", version >> 24, version >> 16 & 0xff);
	else if (version)
		snprintf(out, bytes, "CPython %u.%u.%u", version >> 24, version >> 16 & 0xff,
			 version >> 8 & 0xff);
	else
		snprintf(out, bytes, "CPython before 3.11");
}

static int write_unread(struct recording *recording, u32 number, const struct script_layout *layout)
{
	char path[PATH_MAX], interpreter[64], all[PATH_MAX + 160];
	u32 script = MAPPING_SCRIPT(layout->runtime);
	const struct trace_symbol symbol = {
		.mapping = script, .start = number, .size = 1, .name = all};
	struct trace_mapping mapping;

	symbolizers_identify(recording->symbolizers, number,
			     loaded_mapping(recording->loaded, number), &mapping, path,
			     sizeof(path));
	interpreter_name(layout, interpreter, sizeof(interpreter));
	snprintf(all, sizeof(all), "%s: %s (%s)", interpreter,
		 layout->link_kind == SCRIPT_LINK_UNREAD
			 ? "the code of this build is not understood"
			 : "offsets unknown",
		 mapping.path);
	return script_names_write_mapping(recording, script)
		       ?: trace_writer_symbol(recording->writer, &symbol);
}

int script_names_write_unread(struct recording *recording)
{
	int map = bpf_map__fd(loaded_programs(recording->loaded)->maps.file_tables);
	int result = 0;

	for (u32 number = 1; number < MAPPING_SCRIPT_FIRST && !result; number++) {
		u64 key = FILE_TABLE_KEY(number, FILE_TABLE_ROOT);
		struct file_table_chunk root;

		if (recording->mapping_written[number] && !bpf_map_lookup_elem(map, &key, &root) &&
		    root.script.runtime && !root.script.link &&
		    root.script.runtime < SCRIPT_RUNTIME_COUNT)
			result = write_unread(recording, number, &root.script);
	}
	return result;
}
