/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames are file offsets and DWARF has addresses: the segments of the mapped file lead from one to
 * the other. A debug file that was split off it has program headers, too, but GNU objcopy writes
 * into them where nothing is any more. So without the mapped file the recording has to say it; a
 * debug file's own headers are the last resort: those of eu-strip are as they were.
 *
 * Units are found by the ranges that they claim (DW_AT_ranges of the unit: .debug_aranges is not
 * written by every compiler), and each is read once, for all of its addresses that are asked for.
 * Where dwz has moved entries into a shared file that is not there, nothing of the DWARF is used:
 * names would be missing in the middle of chains.
 */
#include "debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "dwarf_unit.h"
#include "order.h"
#include "symbol/elf/debug_link.h"
#include "symbol/elf/elf_segment.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/elf_text.h"
#include "symbol/elf/mini_debug.h"
#include "symbol/elf/unpacked_elf.h"

#define UNITS_MAX (1U << 22)

/* Deflate makes at most 258 bytes of two bits, which is 1032 of one byte: who says more lies, and
 * libelf would take the memory first. */
#define INFLATED_MAX(bytes) (1032 * (bytes) + 1024)

/* How sections were compressed before SHF_COMPRESSED: "ZLIB" and the size, big-endian. */
#define ZDEBUG ".zdebug_"

struct debug_info {
	Elf *code, *debug, *shared_elf;
	Elf *unpacked, *shared_unpacked; /* NULL: the file can be read as it is */
	char *unpacked_memory, *shared_memory;
	struct mini_debug mini;
	Dwarf *dwarf, *shared;
	struct elf_segments segments;
	struct symbol_table *symbols;
	struct dwarf_line_sections lines;
	struct code_ranges text;
	Dwarf_Die *units;
	u32 unit_count, unit_room;
	struct code_ranges ranges; /* of units, by index */
	u64 slide;		   /* of a kernel: place - address */
	bool is_kernel;
	bool is_damaged;
	bool is_split; /* the functions are described in other files (.dwo, .dwp) */
};

struct debug_sections {
	bool has_units; /* there is debug information */
	bool is_bomb;	/* a section would be larger unpacked than it can be */
};

static u64 inflated_bytes(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr compressed;
	Elf_Data *data;
	u64 bytes;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
	if (strncmp(name, ZDEBUG, strlen(ZDEBUG)))
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4))
		return 0;
	memcpy(&bytes, (char *)data->d_buf + 4, sizeof(bytes));
	return be64toh(bytes);
}

static bool holds_units(const GElf_Shdr *header, const char *name)
{
	return header->sh_type != SHT_NOBITS &&
	       (!strcmp(name, ".debug_info") || !strcmp(name, ZDEBUG "info"));
}

static void debug_sections_read(Elf *elf, struct debug_sections *sections)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	*sections = (struct debug_sections){};
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name)
			continue;
		sections->has_units |= holds_units(&header, name);
		sections->is_bomb |=
			inflated_bytes(section, &header, name) > INFLATED_MAX(header.sh_size);
	}
}

/* Mapped: of a large debug file few pages are read. If it is cut short meanwhile, SIGBUS ends the
 * sandbox that this runs in. */
static Elf *open_elf(int file)
{
	Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);

	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		elf = NULL;
	}
	return elf;
}

static int add_range(void *arg, u64 start, u64 end)
{
	struct debug_info *info = arg;

	return code_ranges_add(&info->ranges, start, end, info->unit_count);
}

static int add_unit(struct debug_info *info, const Dwarf_Die *die)
{
	int result;

	if (info->unit_count == UNITS_MAX ||
	    array_make_room(info->units, info->unit_count, info->unit_room))
		return -ENOMEM;
	info->units[info->unit_count] = *die;
	result = dwarf_entry_ranges(&info->units[info->unit_count], &info->text, add_range, info);
	info->is_damaged |= result == -EBADMSG;
	if (result == -ENOMEM)
		return result;
	info->unit_count++;
	return 0;
}

/* `has_units`: the file says that there are some. */
static int read_units(struct debug_info *info, bool has_units)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	u8 type;
	bool is_empty = true;
	int end = 0, result = 0;

	while (!result && !end) {
		end = dwarf_get_units(info->dwarf, unit, &unit, NULL, &type, &die, NULL);
		is_empty &= end;
		info->is_split |= !end && type == DW_UT_skeleton;
		if (!end && type == DW_UT_compile && dwarf_tag(&die) == DW_TAG_compile_unit)
			result = add_unit(info, &die);
	}
	info->is_damaged |= end < 0 || (has_units && is_empty);
	code_ranges_seal(&info->ranges);
	return result;
}

static bool needs_shared(Elf *elf)
{
	struct debug_link link;

	debug_link_read(elf, &link);
	return link.shared[0];
}

static Dwarf *begin_dwarf(Elf *elf, const struct debug_files *files,
			  struct debug_sections *sections)
{
	Dwarf *dwarf;

	debug_sections_read(elf, sections);
	dwarf = sections->is_bomb ? NULL : dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (dwarf && files->no_memory)
		dwarf_new_oom_handler(dwarf, files->no_memory);
	return dwarf;
}

/* The file, or its copy without what libelf cannot unpack. */
static Elf *readable(struct debug_info *info, Elf *elf, Elf **unpacked, char **memory)
{
	if (!unpacked_elf_is_needed(elf))
		return elf;
	*unpacked = unpacked_elf_open(elf, memory);
	info->is_damaged |= !*unpacked;
	return *unpacked ?: elf;
}

static int open_dwarf(struct debug_info *info, const struct debug_files *files)
{
	struct debug_sections sections;
	Elf *elf =
		readable(info, info->debug ?: info->code, &info->unpacked, &info->unpacked_memory);

	info->shared_elf = open_elf(files->shared);
	if (info->shared_elf)
		info->shared = begin_dwarf(readable(info, info->shared_elf, &info->shared_unpacked,
						    &info->shared_memory),
					   files, &sections);
	if (!info->shared && needs_shared(elf)) {
		info->is_damaged = info->shared_elf;
		return 0;
	}
	info->dwarf = begin_dwarf(elf, files, &sections);
	if (!info->dwarf) {
		info->is_damaged = sections.has_units;
		return 0;
	}
	if (info->shared)
		dwarf_setalt(info->dwarf, info->shared);
	dwarf_line_sections_find(elf, &info->lines);
	return elf_text_read(elf, &info->text) ?: read_units(info, sections.has_units);
}

static int read_symbols(struct debug_info *info)
{
	Elf *elves[] = {info->code, info->debug, mini_debug_open(info->code, &info->mini)};
	int result = symbol_table_create(&info->symbols);

	for (u32 i = 0; i < sizeof(elves) / sizeof(elves[0]) && !result; i++)
		if (elves[i])
			result = elf_symbols_collect(elves[i], &info->segments, info->symbols);
	if (!result)
		symbol_table_seal(info->symbols);
	return result == -ENOEXEC ? 0 : result;
}

static bool find_stext(Elf *elf, u64 *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (!name || strcmp(name, "_stext"))
				continue;
			*address = symbol.st_value;
			return true;
		}
	}
	return false;
}

static int find_slide(struct debug_info *info, u64 stext)
{
	u64 linked;

	info->is_kernel = true;
	if (!find_stext(info->debug ?: info->code, &linked))
		return -ENODATA;
	info->slide = stext - linked;
	return 0;
}

static void find_segments(struct debug_info *info, const struct elf_segments *layout)
{
	if (!info->code && layout && layout->count)
		info->segments = *layout;
	else
		elf_segments_read(info->code ?: info->debug, &info->segments);
}

static int read_files(struct debug_info *info, const struct debug_files *files, u64 stext)
{
	int result;

	info->code = open_elf(files->code);
	info->debug = open_elf(files->debug);
	if (!info->code && !info->debug)
		return -ENOEXEC;
	find_segments(info, files->layout);
	if (!info->code) {
		info->code = info->debug;
		info->debug = NULL;
	}
	result = stext ? find_slide(info, stext) : read_symbols(info);
	return result ?: open_dwarf(info, files);
}

int debug_info_open(const struct debug_files *files, u64 stext, struct debug_info **out)
{
	struct debug_info *info = calloc(1, sizeof(*info));
	int result = info ? 0 : -ENOMEM;

	if (elf_version(EV_CURRENT) == EV_NONE)
		result = -ENOTSUP;
	result = result ?: read_files(info, files, stext);
	if (result && info)
		debug_info_close(&info);
	else if (!result)
		*out = info;
	return result;
}

void debug_info_close(struct debug_info **info)
{
	struct debug_info *it = *info;

	if (!it)
		return;
	free(it->units);
	code_ranges_clear(&it->ranges);
	code_ranges_clear(&it->text);
	symbol_table_free(&it->symbols);
	dwarf_end(it->dwarf);
	dwarf_end(it->shared);
	mini_debug_close(&it->mini);
	elf_end(it->shared_unpacked);
	elf_end(it->unpacked);
	free(it->shared_memory);
	free(it->unpacked_memory);
	elf_end(it->shared_elf);
	elf_end(it->debug);
	elf_end(it->code);
	free(it);
	*info = NULL;
}

bool debug_info_is_split(const struct debug_info *info)
{
	return info->is_split;
}

bool debug_info_is_damaged(const struct debug_info *info)
{
	return info->is_damaged;
}

/* The address that the file's code has at a place. */
static bool address_of(const struct debug_info *info, u64 place, u64 *address)
{
	const struct elf_segment *segment;

	if (info->is_kernel) {
		*address = place - info->slide;
		return true;
	}
	segment = elf_segment_at(&info->segments, place);
	if (segment)
		*address = segment->address + (place - segment->offset);
	return segment;
}

/* A place with its address, by unit. */
struct target {
	u32 unit; /* NO_UNIT: nothing is known of it */
	u32 index;
	u64 address;
};

#define NO_UNIT UINT32_MAX

static struct target make_target(const struct debug_info *info, u64 place, u32 index)
{
	struct target target = {.unit = NO_UNIT, .index = index};

	if (!info->dwarf || !address_of(info, place, &target.address) ||
	    !code_ranges_find(&info->ranges, target.address, &target.unit))
		target.unit = NO_UNIT;
	return target;
}

static int by_unit(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	return order(a->unit, b->unit) ?: order(a->address, b->address);
}

struct group {
	const struct target *targets;
	code_place_each each;
	void *arg;
};

static int each_of_group(void *arg, u32 index, const struct code_place *functions, u32 count)
{
	const struct group *group = arg;

	return group->each(group->arg, group->targets[index].index, functions, count);
}

/* `targets` are of one unit; `addresses` has room for theirs. */
static int find_in_unit(struct debug_info *info, const struct target *targets, u32 count,
			u64 *addresses, struct group *group)
{
	int result = 0;

	group->targets = targets;
	for (u32 i = 0; i < count; i++)
		addresses[i] = targets[i].address;
	if (targets->unit != NO_UNIT)
		return dwarf_unit_find(&info->units[targets->unit], &info->text, &info->lines,
				       addresses, count, each_of_group, group, &info->is_damaged);
	for (u32 i = 0; i < count && !result; i++)
		result = each_of_group(group, i, NULL, 0);
	return result;
}

static int find_targets(struct debug_info *info, const struct target *targets, u32 count,
			u64 *addresses, struct group *group)
{
	int result = 0;

	for (u32 first = 0, end = 0; first < count && !result; first = end) {
		while (end < count && targets[end].unit == targets[first].unit)
			end++;
		result = find_in_unit(info, &targets[first], end - first, addresses, group);
	}
	return result;
}

int debug_info_find(struct debug_info *info, const u64 *places, u32 count, code_place_each each,
		    void *arg)
{
	struct target *targets = calloc(count + 1UL, sizeof(*targets));
	u64 *addresses = calloc(count + 1UL, sizeof(*addresses));
	struct group group = {.each = each, .arg = arg};
	int result = targets && addresses ? 0 : -ENOMEM;

	for (u32 i = 0; i < count && !result; i++)
		targets[i] = make_target(info, places[i], i);
	if (!result && count) {
		qsort(targets, count, sizeof(*targets), by_unit);
		result = find_targets(info, targets, count, addresses, &group);
	}
	free(targets);
	free(addresses);
	return result;
}

bool debug_info_symbol(const struct debug_info *info, u64 place, struct symbol *symbol)
{
	return info->symbols && symbol_table_find(info->symbols, place, symbol);
}
