/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kallsyms gives no sizes: a symbol reaches to the next one of any kind, and never past the end of
 * its module. Behind code that belongs to no module (BPF programs, trampolines, slots of ftrace and
 * kprobes) may be free memory, so such a symbol covers at most one page. Slots have one page;
 * passing_code.h knows the lengths of programs. Symbols that only mark a place (section borders
 * such as _etext, the padding __pfx_ before a function, arm64's mapping symbols, data) end the
 * symbol before them and give no name.
 *
 * System calls have up to four names for one address; the 64-bit entry __x64_sys_ is preferred.
 */
#include "kallsyms.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"
#include "symbol/file/whole_file.h"

#define KERNEL_HALF (1ULL << 63)
#define PROGRAM_MARK "\t[bpf]\n"
#define PAGE_BYTES 4096ULL

enum rank { RANK_COMPAT, RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

#define DIGITS 8 /* that are read at once */
#define EACH(byte) (0x0101010101010101ULL * (byte))

/* The value of a hexadecimal digit; 16: no digit. */
static u32 digit_value(char digit)
{
	u32 value = (u32)digit - '0';

	if (value < 10)
		return value;
	value = ((u32)digit | 0x20) - 'a';
	return value < 6 ? value + 10 : 16;
}

/* The number that eight digits 0-9 and a-f give; false: there are others. A file of the kernel has
 * millions of digits, so all eight are handled in one word. */
static bool take_digits(const char *text, u64 *number)
{
	u64 digits, values, letters;

	memcpy(&digits, text, sizeof(digits));
	digits = le64toh(digits);
	values = (digits & EACH(0x0f)) + (digits >> 6 & EACH(1)) * 9;
	letters = (values + EACH(6)) >> 4 & EACH(1);
	if (values & EACH(0xf0) || digits != values + EACH('0') + letters * ('a' - '0' - 10))
		return false;
	values = (values << 4 | values >> 8) & 0x00ff00ff00ff00ff;
	values = (values << 8 | values >> 16) & 0x0000ffff0000ffff;
	*number = (values << 16 | values >> 32) & 0xffffffff;
	return true;
}

static const char *take_address(const char *text, const char *end, u64 *address)
{
	const char *digit = text;
	u64 number = 0, upper, lower;

	if (end - text >= 2 * DIGITS && take_digits(text, &upper) &&
	    take_digits(text + DIGITS, &lower)) {
		*address = upper << 32 | lower;
		return text + 2 * DIGITS;
	}
	for (; digit < end && digit - text < 2 * DIGITS; digit++) {
		u32 value = digit_value(*digit);

		if (value == 16)
			break;
		number = number << 4 | value;
	}
	*address = number;
	return digit > text ? digit : NULL;
}

/* "ADDRESS TYPE name" or "ADDRESS TYPE name<tab>[module]" */
static bool parse_line(const char *text, const char *end, struct kallsyms_line *line)
{
	const char *at = take_address(text, end, &line->address), *tab;

	if (!at || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line->text = text;
	line->type = at[1];
	line->name = at + 3;
	tab = NULL;
	if (end[-1] == ']' || end[-1] == '\t')
		tab = memchr(line->name, '\t', end - line->name);
	line->name_bytes = (tab ? tab : end) - line->name;
	line->module_bytes = 0;
	if (tab && end - tab >= 4 && tab[1] == '[' && end[-1] == ']') {
		line->module = tab + 2;
		line->module_bytes = end - 1 - line->module;
	}
	return line->name_bytes;
}

int kallsyms_each(const char *text, size_t bytes,
		  int (*each)(void *arg, const struct kallsyms_line *line), void *arg)
{
	const char *end = text + bytes, *nul = memchr(text, 0, bytes) ?: end;
	struct kallsyms_line line;
	int stop = 0;

	while (text < end && !stop) {
		const char *newline = memchr(text, '\n', end - text);
		const char *line_end = newline ? newline : end;

		if (parse_line(text, line_end, &line) &&
		    (line_end <= nul || !memchr(line.name, 0, line.name_bytes)))
			stop = each(arg, &line);
		text = line_end + 1;
	}
	return stop;
}

static bool starts_with(const struct kallsyms_line *line, const char *prefix)
{
	size_t bytes = strlen(prefix);

	return line->name_bytes >= bytes && !memcmp(line->name, prefix, bytes);
}

static bool ends_with(const struct kallsyms_line *line, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return line->name_bytes >= bytes &&
	       !memcmp(line->name + line->name_bytes - bytes, suffix, bytes);
}

static bool is_named(const struct kallsyms_line *line, const char *name)
{
	return line->name_bytes == strlen(name) && starts_with(line, name);
}

struct wanted {
	const char *name;
	u64 address;
};

static int take_wanted(void *arg, const struct kallsyms_line *line)
{
	struct wanted *wanted = arg;

	if (line->module_bytes || !is_named(line, wanted->name))
		return 0;
	wanted->address = line->address;
	return 1;
}

u64 kallsyms_address(const char *text, size_t bytes, const char *name)
{
	struct wanted wanted = {.name = name};

	kallsyms_each(text, bytes, take_wanted, &wanted);
	return wanted.address;
}

/* All of them begin with an underscore. */
static bool is_section_border(const struct kallsyms_line *line)
{
	static const char *const borders[] = {"_text",	    "__pi__text", "_stext",
					      "_etext",	    "_sinittext", "_einittext",
					      "_sexittext", "_eexittext", "_end"};

	for (size_t i = 0; i < sizeof(borders) / sizeof(*borders); i++)
		if (is_named(line, borders[i]))
			return true;
	return starts_with(line, "__") &&
	       (ends_with(line, "text_start") || ends_with(line, "text_end"));
}

static bool is_code(const struct kallsyms_line *line)
{
	char type = line->type | 0x20, first = line->name[0];

	if (type != 't' && type != 'w')
		return false;
	if (first == '_')
		return !starts_with(line, "__pfx_") && !is_section_border(line);
	return first != '$' && !starts_with(line, ".L");
}

static enum rank rank_of(const struct kallsyms_line *line)
{
	if (starts_with(line, "__ia32_") || starts_with(line, "__do_compat_"))
		return RANK_COMPAT;
	if (line->type == 'T')
		return RANK_GLOBAL;
	return line->type == 't' ? RANK_LOCAL : RANK_WEAK;
}

struct builder {
	struct symbol_table *table;
	const struct module_list *modules;
	const char *last; /* lines of a module are neighbours: the module is looked up once */
	size_t last_bytes;
	const struct module *module;
};

static const struct module *module_of(struct builder *builder, const struct kallsyms_line *line)
{
	if (!line->module_bytes)
		return NULL;
	if (line->module_bytes != builder->last_bytes ||
	    memcmp(line->module, builder->last, line->module_bytes))
		builder->module =
			module_list_find(builder->modules, line->module, line->module_bytes);
	builder->last = line->module;
	builder->last_bytes = line->module_bytes;
	return builder->module;
}

/* The end of a symbol that is not followed by another one. */
static u64 limit_of(struct builder *builder, const struct kallsyms_line *line)
{
	const struct module *module = module_of(builder, line);

	if (!line->module_bytes)
		return UINT64_MAX;
	if (module && line->address >= module->start && line->address < module->end)
		return module->end;
	return line->address < UINT64_MAX - PAGE_BYTES ? line->address + PAGE_BYTES : UINT64_MAX;
}

static int add_line(void *arg, const struct kallsyms_line *line)
{
	struct builder *builder = arg;
	struct symbol symbol = {.start = line->address};

	if (!(line->address & KERNEL_HALF))
		return 0;
	if (is_code(line)) {
		symbol.limit = limit_of(builder, line);
		symbol.rank = rank_of(line);
		symbol.name = line->name;
		symbol.name_bytes = line->name_bytes;
	}
	return symbol_table_add(builder->table, &symbol);
}

int kallsyms_parse(const char *text, size_t bytes, const struct module_list *modules,
		   struct symbol_table *table)
{
	struct builder builder = {.table = table, .modules = modules};
	int err = kallsyms_each(text, bytes, add_line, &builder);

	symbol_table_seal(table);
	return err;
}

/* --- Static code (image and modules), and passing code (BPF programs and the like). --- */

struct static_reader {
	struct builder builder; /* without a table */
	struct kallsyms_static *code;
	u64 start, end, init_end; /* of the image: _stext, _etext, _einittext */
};

/* Ends at the first line of a module that /proc/modules has not: static code comes first. */
static int add_place(void *arg, const struct kallsyms_line *line)
{
	struct static_reader *reader = arg;
	struct kallsyms_static *code = reader->code;

	if (line->module_bytes && !module_of(&reader->builder, line))
		return 1;
	code->last = line->text - code->text;
	code->address = line->address;
	if (!line->module_bytes && line->name[0] == '_') {
		if (!reader->start && is_named(line, "_stext"))
			reader->start = line->address;
		else if (!reader->end && is_named(line, "_etext"))
			reader->end = line->address;
		else if (!reader->init_end && is_named(line, "_einittext"))
			reader->init_end = line->address;
	}
	if (!(line->address & KERNEL_HALF))
		return 0;
	if (array_make_room(code->places, code->count, code->room))
		return -ENOMEM;
	code->places[code->count++] = (struct kallsyms_place){line->address, code->last};
	return 0;
}

/* Init code counts as part of the image, since the first CPU idles below start_kernel(). */
static int add_image(struct static_reader *reader)
{
	struct module_list *list = &reader->code->ranges;

	if (array_make_room(list->modules, list->count, list->room))
		return -ENOMEM;
	list->modules[list->count++] = (struct module){
		.name = "vmlinux",
		.start = reader->start,
		.end = reader->init_end > reader->end ? reader->init_end : reader->end};
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct kallsyms_place *a = left, *b = right;

	return order(a->address, b->address) ?: order(a->line, b->line);
}

/* The image's lines ascend, and are most of all; those of modules do not. */
static void sort_places(struct kallsyms_static *code)
{
	struct kallsyms_place *places = code->places;
	u64 least = UINT64_MAX;
	u32 sorted = 1, kept;

	while (sorted < code->count && places[sorted].address >= places[sorted - 1].address)
		sorted++;
	for (u32 i = sorted; i < code->count; i++)
		if (places[i].address < least)
			least = places[i].address;
	if (sorted >= code->count)
		return;
	kept = bisect(sorted, i, places[i].address < least);
	qsort(places + kept, code->count - kept, sizeof(*places), by_address);
}

void kallsyms_static_clear(struct kallsyms_static *code)
{
	module_list_clear(&code->ranges);
	free(code->places);
	free(code->text);
	*code = (struct kallsyms_static){};
}

int kallsyms_read_open(int kallsyms, int modules, struct kallsyms_static *out)
{
	struct kallsyms_static code = {};
	struct static_reader reader = {.builder = {.modules = &code.ranges}, .code = &code};
	int err = whole_file_read_open_until(kallsyms, PROGRAM_MARK, &code.text, &code.bytes);

	if (err)
		return err;
	err = module_list_read_open(modules, &code.ranges);
	if (!err)
		err = kallsyms_each(code.text, code.bytes, add_place, &reader);
	if (err >= 0)
		err = add_image(&reader);
	if (err) {
		kallsyms_static_clear(&code);
		return err;
	}
	sort_places(&code);
	*out = code;
	return 0;
}

int kallsyms_find(const struct kallsyms_static *code, const u64 *addresses, u32 count,
		  struct symbol_table *table)
{
	struct builder builder = {.table = table, .modules = &code->ranges};
	const struct kallsyms_place *places = code->places;
	u32 done = 0; /* places before this one are in the table */
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		u32 behind = bisect(code->count, at, places[at].address <= addresses[i]);
		u32 first = behind;

		while (first && places[first - 1].address == places[behind - 1].address)
			first--;
		for (first = first > done ? first : done; first < behind && !err; first++) {
			const char *text = code->text + code->places[first].line,
				   *end = code->text + code->bytes;
			const char *newline = memchr(text, '\n', end - text);
			struct kallsyms_line line;

			err = parse_line(text, newline ?: end, &line) ? add_line(&builder, &line)
								      : 0;
		}
		if (behind > done)
			done = behind;
		if (!err && behind < code->count)
			err = symbol_table_add(table,
					       &(struct symbol){.start = places[behind].address});
	}
	symbol_table_seal(table);
	return err;
}

struct passing {
	struct builder builder;
	u64 last; /* address of the last static line, which the text must begin with; 0: the line
		     was read */
};

static int add_passing(void *arg, const struct kallsyms_line *line)
{
	struct passing *passing = arg;

	if (!passing->last)
		return add_line(&passing->builder, line);
	if (passing->last != line->address)
		return -ESTALE;
	passing->last = 0;
	return 0;
}

int kallsyms_read_passing(int kallsyms, const struct kallsyms_static *code,
			  struct symbol_table *table)
{
	const struct module_list *ranges = &code->ranges;
	struct passing passing = {.builder = {.table = table, .modules = ranges},
				  .last = code->address};
	char *text;
	size_t bytes;
	int err =
		code->address ? whole_file_read_from(kallsyms, code->last, &text, &bytes) : -ESTALE;

	if (err)
		return err;
	err = kallsyms_each(text, bytes, add_passing, &passing);
	if (!err && passing.last)
		err = -ESTALE;
	/* Passing code does not reach into static code. */
	for (u32 i = 0; i < ranges->count && !err; i++)
		err = symbol_table_add(table, &(struct symbol){.start = ranges->modules[i].start});
	symbol_table_seal(table);
	free(text);
	return err;
}
