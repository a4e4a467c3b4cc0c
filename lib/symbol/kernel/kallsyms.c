/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kallsyms gives no sizes: a symbol reaches to the next one of any kind, and never past the end of
 * its module. Code that belongs to no module (BPF programs, trampolines, slots of ftrace and
 * kprobes) has gone and free memory behind it: such a symbol counts for the bytes of one page. The
 * memory of slots is one page; how long a program is passing_code.h knows. What only marks a place
 * (section borders such as _etext, the padding __pfx_ before a function, arm64's mapping symbols,
 * data) ends the symbol before it and names nothing itself.
 *
 * System calls have up to four names for one address; the 64-bit entry __x64_sys_ is what people
 * look for.
 */
#include "kallsyms.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "symbol/file/whole_file.h"

#define KERNEL_HALF (1ULL << 63)
#define PROGRAM_MARK "\t[bpf]\n"
#define PAGE_BYTES 4096ULL

enum rank { RANK_COMPAT, RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

struct span {
	const char *text;
	const char *end;
};

static const char *take_address(struct span line, u64 *address)
{
	const char *digit = line.text;

	*address = 0;
	for (; digit < line.end && digit - line.text < 16; digit++) {
		int c = *digit | 0x20;

		if (c >= '0' && c <= '9')
			*address = *address << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			*address = *address << 4 | (c - 'a' + 10);
		else
			break;
	}
	return digit > line.text ? digit : NULL;
}

/* "name" or "name<tab>[module]" */
static bool take_name(struct span rest, struct kallsyms_line *line)
{
	const char *tab = memchr(rest.text, '\t', rest.end - rest.text);

	line->name = rest.text;
	line->name_bytes = (tab ? tab : rest.end) - rest.text;
	line->module_bytes = 0;
	if (tab && rest.end - tab >= 4 && tab[1] == '[' && rest.end[-1] == ']') {
		line->module = tab + 2;
		line->module_bytes = rest.end - 1 - line->module;
	}
	return line->name_bytes && !memchr(line->name, 0, line->name_bytes);
}

static bool parse_line(struct span text, struct kallsyms_line *line)
{
	const char *at = take_address(text, &line->address);

	if (!at || text.end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line->type = at[1];
	return take_name((struct span){at + 3, text.end}, line);
}

int kallsyms_each(const char *text, size_t bytes,
		  int (*each)(void *arg, const struct kallsyms_line *line), void *arg)
{
	const char *end = text + bytes;
	int stop = 0;

	while (text < end && !stop) {
		const char *newline = memchr(text, '\n', end - text);
		const char *line_end = newline ? newline : end;
		struct kallsyms_line line;

		if (parse_line((struct span){text, line_end}, &line))
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
	return memchr("tTwW", line->type, 4) && !starts_with(line, "__pfx_") &&
	       !starts_with(line, "$") && !starts_with(line, ".L") && !is_section_border(line);
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
	struct kallsyms_line last; /* the lines of one module stand together: look it up once */
	const struct module *module;
};

static const struct module *module_of(struct builder *builder, const struct kallsyms_line *line)
{
	if (!line->module_bytes)
		return NULL;
	if (line->module_bytes != builder->last.module_bytes ||
	    memcmp(line->module, builder->last.module, line->module_bytes))
		builder->module =
			module_list_find(builder->modules, line->module, line->module_bytes);
	builder->last = *line;
	return builder->module;
}

/* Where the symbol ends if none follows. */
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

/* The first CPU idles below start_kernel(), which is init code. */
static u64 image_end(const char *text, size_t bytes)
{
	u64 end = kallsyms_address(text, bytes, "_etext");
	u64 init_end = kallsyms_address(text, bytes, "_einittext");

	return init_end > end ? init_end : end;
}

static int add_image(struct module_list *list, const char *text, size_t bytes)
{
	if (array_make_room(list->modules, list->count, list->room))
		return -ENOMEM;
	list->modules[list->count++] =
		(struct module){.name = "vmlinux",
				.start = kallsyms_address(text, bytes, "_stext"),
				.end = image_end(text, bytes)};
	return 0;
}

/* --- what lasts, and what does not --- */

struct last_line {
	const struct module_list *modules;
	const char *text;
	struct kallsyms_lasting *lasting;
};

/* The text is that of the first line's address. */
static size_t line_start(const char *text, const char *name)
{
	while (name > text && name[-1] != '\n')
		name--;
	return name - text;
}

static size_t line_end(const char *text, size_t bytes, size_t start)
{
	const char *newline = memchr(text + start, '\n', bytes - start);

	return newline ? (size_t)(newline - text) + 1 : bytes;
}

static int note_lasting(void *arg, const struct kallsyms_line *line)
{
	struct last_line *last = arg;

	if (line->module_bytes &&
	    !module_list_find(last->modules, line->module, line->module_bytes))
		return 1;
	last->lasting->last = line_start(last->text, line->name);
	last->lasting->address = line->address;
	return 0;
}

void kallsyms_lasting_clear(struct kallsyms_lasting *lasting)
{
	module_list_clear(&lasting->ranges);
	*lasting = (struct kallsyms_lasting){};
}

int kallsyms_read_open(int kallsyms, int modules, struct symbol_table *table,
		       struct kallsyms_lasting *out)
{
	struct kallsyms_lasting lasting = {};
	struct last_line last = {.modules = &lasting.ranges, .lasting = &lasting};
	char *text;
	size_t bytes;
	int err = whole_file_read_open_until(kallsyms, PROGRAM_MARK, &text, &bytes);

	if (err)
		return err;
	last.text = text;
	err = module_list_read_open(modules, &lasting.ranges);
	if (!err)
		kallsyms_each(text, bytes, note_lasting, &last);
	bytes = line_end(text, bytes, lasting.last);
	err = err ?: kallsyms_parse(text, bytes, &lasting.ranges, table);
	err = err ?: add_image(&lasting.ranges, text, bytes);
	free(text);
	if (err)
		kallsyms_lasting_clear(&lasting);
	else
		*out = lasting;
	return err;
}

/* Nothing that does not last reaches into what does. */
static int add_borders(struct symbol_table *table, const struct module_list *ranges)
{
	int err = 0;

	for (u32 i = 0; i < ranges->count && !err; i++)
		err = symbol_table_add(table, &(struct symbol){.start = ranges->modules[i].start});
	return err;
}

struct passing {
	struct builder builder;
	u64 last; /* the line that lasts, which comes first; 0: it was met */
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

int kallsyms_read_passing(int kallsyms, const struct kallsyms_lasting *lasting,
			  struct symbol_table *table)
{
	struct passing passing = {.builder = {.table = table, .modules = &lasting->ranges},
				  .last = lasting->address};
	char *text;
	size_t bytes;
	int err = lasting->address ? whole_file_read_from(kallsyms, lasting->last, &text, &bytes)
				   : -ESTALE;

	if (err)
		return err;
	err = kallsyms_each(text, bytes, add_passing, &passing);
	if (!err && passing.last)
		err = -ESTALE;
	err = err ?: add_borders(table, &lasting->ranges);
	symbol_table_seal(table);
	free(text);
	return err;
}
