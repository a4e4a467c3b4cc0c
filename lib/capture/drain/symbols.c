/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All facts about mapped files come from worker processes (symbol/symbolizer/symbolizers.h). The
 * BPF programs leave out events of these workers, like events of the recorder. */
#include "capture/drain/symbols.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "capture/drain/deferred.h"
#include "capture/drain/recording.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "config.h"
#include "file_table.h"
#include "script.h"
#include "symbol/symbolizer/moved_check.h"
#include "symbol/symbolizer/symbolizers.h"
#include "user_unwind/user_unwinder.h"

/* The most bytes of a name: UTF-8 takes up to two bytes for a byte of Latin-1. */
#define NAME_BYTES (2 * SCRIPT_TEXT_BYTES + 1)

static const char *const paths[] = {
#define X(id, name) [SCRIPT_##id] = (name),
	SCRIPT_RUNTIMES(X)
#undef X
};

/* In UTF-16 a high and a low surrogate together are one character above U+FFFF. */
#define IS_SURROGATE(value) ((value) >> 11 == 0xd800 >> 11)
#define IS_HIGH_SURROGATE(value) ((value) >> 10 == 0xd800 >> 10)
#define IS_LOW_SURROGATE(value) ((value) >> 10 == 0xdc00 >> 10)

static u32 append_utf8(char *out, u32 used, u32 value)
{
	if (value < ' ' || (value >= 0x7f && value < 0xa0) || value > 0x10ffff ||
	    IS_SURROGATE(value))
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

/* Converts a text to UTF-8. A text with width 0 is UTF-8 already and ends at its first NUL: in
 * PHP's name of an anonymous class the file and a number follow the NUL. False: the text is not
 * valid. */
static bool convert_text_to_utf8(const struct script_text *text, char out[NAME_BYTES])
{
	u32 used = 0;

	if (text->bytes > SCRIPT_TEXT_BYTES || (text->width > 2 && text->width != 4))
		return false;
	for (u32 at = 0; !text->width && at < text->bytes && text->text[at]; at++)
		out[used++] = text->text[at] < ' ' || text->text[at] == 0x7f ? '?' : text->text[at];
	for (u32 at = 0; text->width && at + text->width <= text->bytes; at += text->width) {
		u32 read_character = 0;
		u16 low = 0;

		memcpy(&read_character, text->text + at, text->width);
		if (text->width == sizeof(low) && at + 2 * sizeof(low) <= text->bytes)
			memcpy(&low, text->text + at + sizeof(low), sizeof(low));
		if (IS_HIGH_SURROGATE(read_character) && IS_LOW_SURROGATE(low)) {
			read_character = 0x10000 + ((read_character & 0x3ff) << 10 | (low & 0x3ff));
			at += sizeof(low);
		}
		used = append_utf8(out, used, read_character);
	}
	out[used] = 0;
	return used || !text->bytes;
}

/* Writes "java.lang.String.hashCode (String.java)". The name of a hidden class ends with an
 * address, "Calls$$Lambda$14+0x0000000800c03000", which is left out. A block of the machine's code
 * has no class. */
static void format_java_name(char *owner, const char *name, const char *file, char *out, u32 bytes)
{
	char *address = strstr(owner, "+0x");

	if (address)
		*address = 0;
	for (char *at = owner; *at; at++)
		if (*at == '/')
			*at = '.';
	snprintf(out, bytes, file[0] ? "%s%s%s (%s)" : "%s%s%s", owner, owner[0] ? "." : "", name,
		 file);
}

/* Makes the name of a JavaScript function, as "inner (t.js)". Node's own files have no path
 * ("node:internal/fs"). */
static void format_v8_name(const char *name, const char *file, char *out, u32 bytes)
{
	const char *slash = strncmp(file, "node:", 5) ? strrchr(file, '/') : NULL;

	snprintf(out, bytes, file[0] ? "%s (%s)" : "%s", name[0] ? name : "(anonymous)",
		 slash && slash[1] ? slash + 1 : file);
}

static int write_function_name(struct recording *recording, u32 number, u32 id,
			       const struct script_record *record)
{
	char name[NAME_BYTES], file[NAME_BYTES], owner[NAME_BYTES], all[3 * NAME_BYTES + 32];
	struct trace_symbol symbol = {
		.mapping = number, .start = SCRIPT_START(id), .size = SCRIPT_START(1), .name = all};
	const char *slash;
	s32 line = (s32)record->first_line;

	if (!convert_text_to_utf8(&record->name, name) ||
	    !convert_text_to_utf8(&record->file, file) ||
	    !convert_text_to_utf8(&record->owner, owner))
		return 0;
	/* Ruby: "(eval at PATH:LINE)", "<internal:PATH>" */
	slash = file[0] == '(' || file[0] == '<' ? NULL : strrchr(file, '/');
	/* Code that a template engine makes from a text may begin at a negative line. Ruby 3.1
	 * stores lines with 31 bits. */
	if (record->runtime == SCRIPT_RUBY)
		line = (s32)(record->first_line << 1) >> 1;
	if (record->runtime == SCRIPT_JAVA)
		format_java_name(owner, name, file, all, sizeof(all));
	else if (record->runtime == SCRIPT_V8)
		format_v8_name(name, file, all, sizeof(all));
	else
		snprintf(all, sizeof(all), "%s%s%s (%s:%d)", owner, owner[0] ? "::" : "",
			 name[0]			  ? name
			 : record->runtime == SCRIPT_PERL ? "<main>"
							  : "<file>",
			 slash && slash[1] ? slash + 1 : file, line);
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
			result = write_function_name(recording, number, id, &record);
	}
	return result;
}

/* Makes the name of an interpreter with its version, as "CPython 3.16.0". */
static void format_interpreter_name(const struct script_layout *layout, char *out, u32 bytes)
{
	u32 version = layout->version;

	if (layout->runtime == SCRIPT_JAVA)
		snprintf(out, bytes, "Java's HotSpot");
	else if (layout->runtime == SCRIPT_V8)
		snprintf(out, bytes, "V8 %u.%u", version >> 8, version & 0xff);
	else if (layout->runtime == SCRIPT_PHP)
		snprintf(out, bytes, "PHP of module interface %u", version);
	else if (layout->runtime == SCRIPT_RUBY && version)
		snprintf(out, bytes, "Ruby %u.%u.%u", version >> 16, version >> 8 & 0xff,
			 version & 0xff);
	else if (layout->runtime == SCRIPT_PERL)
		snprintf(out, bytes, "Perl %u.%u.%u", version >> 16, version >> 8 & 0xff,
			 version & 0xff);
	else if (layout->runtime == SCRIPT_RUBY)
		snprintf(out, bytes, "Ruby");
	else if (version && !(version & 0xffff)) /* a file of 3.10 has no third part */
		snprintf(out, bytes, "CPython %u.%u", version >> 24, version >> 16 & 0xff);
	else if (version)
		snprintf(out, bytes, "CPython %u.%u.%u", version >> 24, version >> 16 & 0xff,
			 version >> 8 & 0xff);
	else
		snprintf(out, bytes, "CPython before 3.11");
}

static int write_name_of_unread_interpreter(struct recording *recording, u32 number,
					    const struct script_layout *layout)
{
	char path[PATH_MAX], interpreter[64], all[PATH_MAX + 160];
	u32 script = MAPPING_SCRIPT(layout->runtime);
	const struct trace_symbol symbol = {
		.mapping = script, .start = number, .size = 1, .name = all};
	struct trace_mapping mapping;

	symbolizers_request_build_id(recording->symbolizers, number,
				     loaded_mapping_record(recording->loaded, number), &mapping,
				     path, sizeof(path));
	format_interpreter_name(layout, interpreter, sizeof(interpreter));
	snprintf(all, sizeof(all), "%s: %s (%s)", interpreter,
		 layout->link_kind == SCRIPT_LINK_UNREAD
			 ? "the code of this build is not understood"
			 : "offsets unknown",
		 mapping.path);
	return script_names_write_mapping(recording, script)
		       ?: trace_writer_symbol(recording->writer, &symbol);
}

static bool has_interpreter_unread_functions(const struct script_layout *layout)
{
	if (layout->runtime == SCRIPT_JAVA)
		return !layout->java.has_names;
	if (layout->runtime == SCRIPT_V8)
		return !layout->v8.has_names;
	if (layout->runtime == SCRIPT_PERL)
		return !layout->perl.has_names;
	return layout->runtime && layout->runtime < SCRIPT_RUNTIME_COUNT && !layout->link;
}

int script_names_write_unread_interpreters(struct recording *recording)
{
	int map = bpf_map__fd(loaded_programs(recording->loaded)->maps.file_tables);
	int result = 0;

	for (u32 number = 1; number < MAPPING_SCRIPT_FIRST && !result; number++) {
		u64 key = FILE_TABLE_KEY(number, FILE_TABLE_ROOT);
		struct file_table_chunk root;

		if (recording->mapping_written[number] && !bpf_map_lookup_elem(map, &key, &root) &&
		    has_interpreter_unread_functions(&root.script))
			result = write_name_of_unread_interpreter(recording, number, &root.script);
	}
	return result;
}

#define PATH_BYTES_MAX 4096
#define MOVED_MS                                                                                   \
	20 /* time between two searches for code that processes have copied from files to          \
	      anonymous memory; a search reads a BPF map */
#define RULES_MS 1000 /* how long after new code its unwind rules may still be requested */
/* BPF programs treat a reader as ended if its next round comes later than this, ms. */
#define AWAIT_MS 4000
#define TABULATE_AGAIN_MS                                                                          \
	600000 /* time between requests for evicted tables (symbolizer/table_publish.h) */

/* Stores the id of an own process in slot pid % OWN_PROCESSES, or in the next slot if that slot is
 * used. The BPF programs look in these two slots. */
static void store_process_id(u32 *slots, u32 pid)
{
	u32 *slot = &slots[pid % OWN_PROCESSES], *next = &slots[(pid + 1) % OWN_PROCESSES];

	*(*slot ? next : slot) = pid;
}

/* Tells the BPF programs the current worker processes, whose events are left out. */
static void publish_own_processes(const struct recording *recording)
{
	u32 pids[SYMBOLIZER_PROCESSES_MAX + USER_UNWINDER_PROCESSES_MAX];
	u32 slots[OWN_PROCESSES] = {}, count;
	u32 *own;

	if (recording->loaded->foreign)
		return;
	own = loaded_programs(recording->loaded)->bss->own_processes;
	count = symbolizers_processes(recording->symbolizers, pids);
	if (recording->deferred)
		count += user_unwinder_worker_pids(recording->deferred->unwinder, pids + count);
	for (u32 i = 0; i < count; i++)
		store_process_id(slots, pids[i]);
	if (recording->loaded->beside)
		store_process_id(slots, recording->loaded->beside);
	for (u32 i = 0; i < OWN_PROCESSES; i++)
		if (own[i] != slots[i])
			__atomic_store_n(&own[i], slots[i], __ATOMIC_RELAXED);
}

/* Moved code is the code of a file that a process has copied into anonymous memory
 * (symbolizer/moved_check.h). Requests a comparison with the file for moved code that the programs
 * have seen. When a comparison has confirmed moved code, the programs forget the mappings that they
 * have cached. */
static void request_moved_code_checks(struct recording *recording)
{
	struct capture_bpf *programs = loaded_programs(recording->loaded);
	int map = bpf_map__fd(programs->maps.moved_code);
	struct moved_code wanted[MOVED_CODE_ASK_MAX];
	u64 now = clock_ms();
	u32 files, count;

	if (now < recording->moved_next)
		return;
	recording->moved_next = now + MOVED_MS;
	count = moved_code_list_due_comparisons(map, wanted, &files);
	for (u32 i = 0; i < count; i++)
		symbolizers_request_code_comparison(
			recording->symbolizers, wanted[i].number, wanted[i].tgid,
			loaded_mapping_record(recording->loaded, wanted[i].number), map);
	if (files != recording->moved_files && !recording->loaded->foreign)
		__atomic_fetch_add(&programs->bss->moved_generation, 1, __ATOMIC_RELAXED);
	recording->moved_files = files;
}

static int write_mapping_record(struct recording *recording, u32 number)
{
	char path[PATH_BYTES_MAX];
	struct trace_mapping mapping;

	symbolizers_request_build_id(recording->symbolizers, number,
				     loaded_mapping_record(recording->loaded, number), &mapping,
				     path, sizeof(path));
	return trace_writer_mapping(recording->writer, &mapping);
}

static void request_unwind_table_of_mapping(struct recording *recording, u32 number)
{
	symbolizers_raise_table_urgency(recording->symbolizers, number, 0);
	symbolizers_request_unwind_table(
		recording->symbolizers, number, loaded_mapping_record(recording->loaded, number),
		bpf_map__fd(loaded_programs(recording->loaded)->maps.file_tables));
	if (!recording->mapping_met[number])
		pace_note_new_code(&recording->pace);
	recording->mapping_met[number] = true;
}

void symbols_request_build_id_and_table(struct recording *recording, u32 number)
{
	char path[PATH_BYTES_MAX];
	struct trace_mapping mapping;

	if (!number || number >= MAPPING_SCRIPT_FIRST)
		return;
	symbolizers_request_build_id(recording->symbolizers, number,
				     loaded_mapping_record(recording->loaded, number), &mapping,
				     path, sizeof(path));
	request_unwind_table_of_mapping(recording, number);
}

int symbols_write_mapping(struct recording *recording, u32 number)
{
	if (number >= MAPPINGS_MAX)
		return 0;
	if (MAPPING_IS_SCRIPT(number))
		return script_names_write_mapping(recording, number);
	request_unwind_table_of_mapping(recording, number);
	if (recording->mapping_written[number])
		return 0;
	recording->mapping_written[number] = true;
	return write_mapping_record(recording, number);
}

void symbols_note_missing_rules(struct recording *recording, const struct stack_ref *user, u64 leaf,
				u64 events)
{
	bool has_stack = user->index != TRACE_NO_STACK;
	u32 number = has_stack ? user->vain : 0;

	if (has_stack ? user->vain == VAIN_LEAF : user->reason == REASON_NO_FRAMES)
		number = leaf && !FRAME_IS_KERNEL(leaf) ? FRAME_MAPPING(leaf) : 0;
	if (number && !MAPPING_IS_SCRIPT(number))
		symbolizers_raise_table_urgency(recording->symbolizers, number, events);
}

/* Every TABULATE_AGAIN_MS, allows new requests for the unwind tables of all files, as tables may
 * have been evicted. */
static void allow_table_requests_again(struct recording *recording)
{
	u64 now = clock_ms();

	if (now < recording->tabulate_again)
		return;
	if (recording->tabulate_again)
		symbolizers_allow_table_requests_again(recording->symbolizers);
	recording->tabulate_again = now + TABULATE_AGAIN_MS;
}

/* True if BPF programs may send raw stacks to this reader for lack of a rule. */
static bool accepts_raw_stacks(const struct recording *recording)
{
	return recording->deferred && !recording->loaded->foreign &&
	       recording->mode == READ_DRAIN && !loaded_is_flight(recording->loaded);
}

void symbols_update_rules_awaited(struct recording *recording)
{
	u64 now = clock_ms(), until;

	if (symbolizers_have_pending_tables(recording->symbolizers) ||
	    symbolizers_are_analysing(recording->symbolizers) || !recording->rules_until)
		recording->rules_until = now + RULES_MS;
	if (!accepts_raw_stacks(recording))
		return;
	until = now < recording->rules_until ? recording->rules_until + AWAIT_MS : 0;
	__atomic_store_n(&loaded_programs(recording->loaded)->bss->rules_awaited, until * NS_PER_MS,
			 __ATOMIC_RELAXED);
}

void symbols_clear_rules_awaited(struct recording *recording)
{
	if (recording->rules_until && accepts_raw_stacks(recording))
		__atomic_store_n(&loaded_programs(recording->loaded)->bss->rules_awaited, 0,
				 __ATOMIC_RELAXED);
}

/* Writes a mapping again, now with its build id; readers of the recording use the last record of a
 * mapping. */
static int write_mapping_with_new_build_id(void *arg, u32 number)
{
	struct recording *recording = arg;

	return recording->mapping_written[number] ? write_mapping_record(recording, number) : 0;
}

static int write_symbol(void *arg, const struct trace_symbol *symbol)
{
	const struct recording *recording = arg;

	return trace_writer_symbol(recording->writer, symbol);
}

static struct symbolizers_sink symbolizer_sink_of_recording(struct recording *recording)
{
	return (struct symbolizers_sink){
		.arg = recording,
		.identified = write_mapping_with_new_build_id,
		.symbol = write_symbol,
	};
}

int symbols_write_cached(struct recording *recording, u32 number, u64 *addresses, u32 *count)
{
	const struct symbolizers_sink sink = symbolizer_sink_of_recording(recording);

	return symbolizers_find_cached_symbols(recording->symbolizers, number, addresses, count,
					       &sink);
}

int symbols_visit_symbolizers(struct recording *recording)
{
	const struct symbolizers_sink sink = symbolizer_sink_of_recording(recording);
	int result = symbolizers_exchange_messages(recording->symbolizers, &sink);
	u32 tables;

	symbols_update_rules_awaited(recording);
	tables = symbolizers_script_loop_tables(recording->symbolizers);
	if (tables != recording->script_loop_tables)
		loaded_forget_rules(recording->loaded);
	recording->script_loop_tables = tables;
	if (symbolizers_can_leave_generated_code(recording->symbolizers))
		loaded_stop_walks_at_generated_code(recording->loaded);
	request_moved_code_checks(recording);
	allow_table_requests_again(recording);
	publish_own_processes(recording);
	return result;
}
