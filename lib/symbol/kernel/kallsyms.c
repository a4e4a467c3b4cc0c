/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kallsyms gives no sizes: a symbol reaches to the next one of any kind, and never past the end of
 * its module. Free memory may follow code that belongs to no module (BPF programs, trampolines,
 * slots of ftrace and kprobes), so such a symbol covers at most one page. Slots have one page;
 * passing_code.h knows the lengths of programs. Symbols that only mark a place (section borders
 * such as _etext, the padding __pfx_ before a function, arm64's mapping symbols, data) end the
 * symbol before them and give no name.
 *
 * System calls have up to four names for one address; the 64-bit entry __x64_sys_ is preferred.
 *
 * /proc/modules gives the address of a module's text and the size of all its memory. Since 6.4
 * text, data and init memory lie apart, so address + size may reach into the next module. A module
 * then ends at the start of the next one.
 */
#include "symbol/kernel/kallsyms.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"
#include "symbol/file/whole_file.h"

/* A longer line of /proc/modules, with a long list of users before the address, is left out. */
#define LINE_BYTES 4096

static int parse_module(const char *line, size_t bytes, struct module *module)
{
	char copy[LINE_BYTES];
	unsigned long long size, start;

	if (bytes >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, line, bytes);
	copy[bytes] = 0;
	if (sscanf(copy, "%63s %llu %*s %*s %*s 0x%llx", module->name, &size, &start) != 3)
		return -EINVAL;
	module->start = start;
	module->end = start && size < UINT64_MAX - start ? start + size : start;
	return 0;
}

static int compare_module_addresses(const void *left, const void *right)
{
	const struct module *a = left, *b = right;

	return order(a->start, b->start);
}

int module_list_parse(const char *text, size_t bytes, struct module_list *list)
{
	const char *end = text + bytes;
	struct module_list found = {};

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		size_t length = (newline ? newline : end) - text;
		struct module module = {};

		if (!parse_module(text, length, &module)) {
			if (array_make_room(found.modules, found.count, found.room)) {
				module_list_clear(&found);
				return -ENOMEM;
			}
			found.modules[found.count++] = module;
		}
		text += length + 1;
	}
	if (found.count)
		qsort(found.modules, found.count, sizeof(*found.modules), compare_module_addresses);
	for (u32 i = 0; i + 1 < found.count; i++)
		if (found.modules[i].end > found.modules[i + 1].start)
			found.modules[i].end = found.modules[i + 1].start;
	*list = found;
	return 0;
}

int module_list_read_open(int fd, struct module_list *list)
{
	char *text;
	size_t bytes;
	int err;

	if (fd < 0) {
		*list = (struct module_list){};
		return 0;
	}
	err = whole_file_read_open(fd, &text, &bytes);
	if (err)
		return err;
	err = module_list_parse(text, bytes, list);
	free(text);
	return err;
}

const struct module *module_list_find(const struct module_list *list, const char *name,
				      size_t name_bytes)
{
	for (u32 i = 0; i < list->count; i++) {
		const struct module *module = &list->modules[i];

		if (strlen(module->name) == name_bytes && !memcmp(module->name, name, name_bytes))
			return module;
	}
	return NULL;
}

void module_list_clear(struct module_list *list)
{
	free(list->modules);
	*list = (struct module_list){};
}

#define KERNEL_HALF (1ULL << 63)
#define PROGRAM_MARK "\t[bpf]\n"
#define PAGE_BYTES 4096ULL

enum rank { RANK_COMPAT, RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

#define DIGITS 8 /* the number of hexadecimal digits that are parsed at once */
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

/* Parses eight hexadecimal digits (0-9, a-f); false: one of the eight characters is not such a
 * digit. /proc/kallsyms has millions of digits, so all eight are handled in one word. */
static bool parse_eight_digits(const char *text, u64 *number)
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

static const char *parse_address(const char *text, const char *end, u64 *address)
{
	const char *digit = text;
	u64 number = 0, upper, lower;

	if (end - text >= 2 * DIGITS && parse_eight_digits(text, &upper) &&
	    parse_eight_digits(text + DIGITS, &lower)) {
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

/* Parses "ADDRESS TYPE name" or "ADDRESS TYPE name<tab>[module]". */
static bool parse_symbol_line(const char *text, const char *end, struct kallsyms_line *line)
{
	const char *at = parse_address(text, end, &line->address), *tab;

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

/* Parses lines from *text on, up to the first one that makes sense, and moves *text after it.
 * `nul`: the first NUL of the whole text, or its end. False: no line is left. */
static bool next_symbol_line(const char **text, const char *end, const char *nul,
			     struct kallsyms_line *line)
{
	while (*text < end) {
		const char *start = *text, *newline = memchr(start, '\n', end - start);
		const char *line_end = newline ? newline : end;

		*text = line_end + 1;
		if (parse_symbol_line(start, line_end, line) &&
		    (line_end <= nul || !memchr(line->name, 0, line->name_bytes)))
			return true;
	}
	return false;
}

int kallsyms_each(const char *text, size_t bytes,
		  int (*each)(void *arg, const struct kallsyms_line *line), void *arg)
{
	const char *end = text + bytes, *nul = memchr(text, 0, bytes) ?: end;
	struct kallsyms_line line;
	int stop = 0;

	while (!stop && next_symbol_line(&text, end, nul, &line))
		stop = each(arg, &line);
	return stop;
}

static bool symbol_starts_with(const struct kallsyms_line *line, const char *prefix)
{
	size_t bytes = strlen(prefix);

	return line->name_bytes >= bytes && !memcmp(line->name, prefix, bytes);
}

static bool symbol_ends_with(const struct kallsyms_line *line, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return line->name_bytes >= bytes &&
	       !memcmp(line->name + line->name_bytes - bytes, suffix, bytes);
}

static bool is_line_of_symbol(const struct kallsyms_line *line, const char *name)
{
	return line->name_bytes == strlen(name) && symbol_starts_with(line, name);
}

u64 kallsyms_address(const char *text, size_t bytes, const char *name)
{
	const char *end = text + bytes, *nul = memchr(text, 0, bytes) ?: end;
	struct kallsyms_line line;

	while (next_symbol_line(&text, end, nul, &line))
		if (!line.module_bytes && is_line_of_symbol(&line, name))
			return line.address;
	return 0;
}

/* True if the symbol marks the begin or the end of a section. The names of all such symbols begin
 * with an underscore. */
static bool is_section_border(const struct kallsyms_line *line)
{
	static const char *const borders[] = {"_text",	    "__pi__text", "_stext",
					      "_etext",	    "_sinittext", "_einittext",
					      "_sexittext", "_eexittext", "_end"};

	for (size_t i = 0; i < sizeof(borders) / sizeof(*borders); i++)
		if (is_line_of_symbol(line, borders[i]))
			return true;
	return symbol_starts_with(line, "__") &&
	       (symbol_ends_with(line, "text_start") || symbol_ends_with(line, "text_end"));
}

static bool is_code_symbol(const struct kallsyms_line *line)
{
	char type = line->type | 0x20, first = line->name[0];

	if (type != 't' && type != 'w')
		return false;
	if (first == '_')
		return !symbol_starts_with(line, "__pfx_") && !is_section_border(line);
	return first != '$' && !symbol_starts_with(line, ".L");
}

static enum rank rank_of_kernel_symbol_name(const struct kallsyms_line *line)
{
	if (symbol_starts_with(line, "__ia32_") || symbol_starts_with(line, "__do_compat_"))
		return RANK_COMPAT;
	if (line->type == 'T')
		return RANK_GLOBAL;
	return line->type == 't' ? RANK_LOCAL : RANK_WEAK;
}

struct builder {
	struct symbol_table *table;
	const struct module_list *modules;
	/* The module of the last line, and its name in that line. Lines of a module are neighbours,
	 * so each module is looked up once. */
	const char *last;
	size_t last_bytes;
	const struct module *module;
};

static const struct module *module_of_symbol_line(struct builder *builder,
						  const struct kallsyms_line *line)
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

/* The end of a symbol that no other symbol follows. */
static u64 end_limit_of_last_symbol(struct builder *builder, const struct kallsyms_line *line)
{
	const struct module *module = module_of_symbol_line(builder, line);

	if (!line->module_bytes)
		return UINT64_MAX;
	if (module && line->address >= module->start && line->address < module->end)
		return module->end;
	return line->address < UINT64_MAX - PAGE_BYTES ? line->address + PAGE_BYTES : UINT64_MAX;
}

static int add_symbol_line(struct builder *builder, const struct kallsyms_line *line)
{
	struct symbol symbol = {.start = line->address};

	if (!(line->address & KERNEL_HALF))
		return 0;
	if (is_code_symbol(line)) {
		symbol.limit = end_limit_of_last_symbol(builder, line);
		symbol.rank = rank_of_kernel_symbol_name(line);
		symbol.name = line->name;
		symbol.name_bytes = line->name_bytes;
	}
	return symbol_table_add(builder->table, &symbol);
}

int kallsyms_parse(const char *text, size_t bytes, const struct module_list *modules,
		   struct symbol_table *table)
{
	struct builder builder = {.table = table, .modules = modules};
	const char *end = text + bytes, *nul = memchr(text, 0, bytes) ?: end;
	struct kallsyms_line line;
	int err = 0;

	while (!err && next_symbol_line(&text, end, nul, &line))
		err = add_symbol_line(&builder, &line);
	symbol_table_seal(table);
	return err;
}

/* Records where the lines of static code are, and the ranges of static code. Ends at the first line
 * whose module /proc/modules does not list: static code comes first. */
static int record_static_lines(struct kallsyms_static *code)
{
	const char *text = code->text, *end = text + code->bytes;
	const char *nul = memchr(text, 0, code->bytes) ?: end;
	struct builder builder = {.modules = &code->ranges};
	struct module image = {.name = "vmlinux"};
	struct module_list *ranges = &code->ranges;
	struct kallsyms_line line;
	u64 init_end = 0;

	while (next_symbol_line(&text, end, nul, &line)) {
		if (line.module_bytes && !module_of_symbol_line(&builder, &line))
			break;
		code->last = line.text - code->text;
		code->address = line.address;
		if (!line.module_bytes && line.name[0] == '_') {
			if (!image.start && is_line_of_symbol(&line, "_stext"))
				image.start = line.address;
			else if (!image.end && is_line_of_symbol(&line, "_etext"))
				image.end = line.address;
			else if (!init_end && is_line_of_symbol(&line, "_einittext"))
				init_end = line.address;
		}
		if (!(line.address & KERNEL_HALF))
			continue;
		if (array_make_room(code->places, code->count, code->room))
			return -ENOMEM;
		code->places[code->count++] = (struct kallsyms_place){line.address, code->last};
	}
	/* Init code counts as part of the image: the first CPU idles below start_kernel(). */
	if (init_end > image.end)
		image.end = init_end;
	if (array_make_room(ranges->modules, ranges->count, ranges->room))
		return -ENOMEM;
	ranges->modules[ranges->count++] = image;
	return 0;
}

static int compare_line_addresses(const void *left, const void *right)
{
	const struct kallsyms_place *a = left, *b = right;

	return order(a->address, b->address) ?: order(a->line, b->line);
}

/* Most lines are of the kernel's image, whose addresses ascend already; the addresses of modules do
 * not. */
static void sort_lines_by_address(struct kallsyms_static *code)
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
	qsort(places + kept, code->count - kept, sizeof(*places), compare_line_addresses);
}

void kallsyms_static_clear(struct kallsyms_static *code)
{
	module_list_clear(&code->ranges);
	free(code->places);
	free(code->text);
	*code = (struct kallsyms_static){};
}

int kallsyms_read_static_symbols(int kallsyms, int modules, struct kallsyms_static *out)
{
	struct kallsyms_static code = {};
	int err = whole_file_read_open_until(kallsyms, PROGRAM_MARK, &code.text, &code.bytes);

	if (err)
		return err;
	err = module_list_read_open(modules, &code.ranges) ?: record_static_lines(&code);
	if (err) {
		kallsyms_static_clear(&code);
		return err;
	}
	sort_lines_by_address(&code);
	*out = code;
	return 0;
}

int kallsyms_fill_table_for_addresses(const struct kallsyms_static *code, const u64 *addresses,
				      u32 count, struct symbol_table *table)
{
	struct builder builder = {.table = table, .modules = &code->ranges};
	const struct kallsyms_place *places = code->places;
	u32 done = 0; /* all places with a smaller index are in the table already */
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

			err = parse_symbol_line(text, newline ?: end, &line)
				      ? add_symbol_line(&builder, &line)
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

int kallsyms_read_passing(int kallsyms, const struct kallsyms_static *code,
			  struct symbol_table *table)
{
	const struct module_list *ranges = &code->ranges;
	struct builder builder = {.table = table, .modules = ranges};
	const char *at, *end, *nul;
	struct kallsyms_line line;
	char *text;
	size_t bytes;
	int err =
		code->address ? whole_file_read_from(kallsyms, code->last, &text, &bytes) : -ESTALE;

	if (err)
		return err;
	at = text;
	end = text + bytes;
	nul = memchr(text, 0, bytes) ?: end;
	/* The text that was read begins with the last line of static code, or with lines before it,
	 * if the list of static code came without data of the image. */
	do
		err = next_symbol_line(&at, end, nul, &line) ? 0 : -ESTALE;
	while (!err && line.address != code->address && code->is_copy);
	if (!err && line.address != code->address)
		err = -ESTALE;
	while (!err && next_symbol_line(&at, end, nul, &line))
		err = add_symbol_line(&builder, &line);
	/* The ranges of static code end the symbols of all other code, which never reach into
	 * static code. */
	for (u32 i = 0; i < ranges->count && !err; i++)
		err = symbol_table_add(table, &(struct symbol){.start = ranges->modules[i].start});
	symbol_table_seal(table);
	free(text);
	return err;
}
