/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames are file offsets and DWARF has addresses; the segments of the mapped file translate one to
 * the other. A debug file that was split off has program headers, too, but the file offsets that
 * GNU objcopy writes there are wrong. Without the mapped file, the recording gives the segments,
 * and the headers of the debug file, which are right after eu-strip, are the last resort.
 *
 * Units are found by their ranges (DW_AT_ranges of the unit, as not every compiler writes
 * .debug_aranges). Each unit is read once, for all its requested addresses. If dwz has moved
 * entries into a shared file that is missing, the DWARF is not used at all: names would be missing
 * in the middle of chains of inlined calls.
 */
#include "debug_info.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "array.h"
#include "dwarf_unit.h"
#include "order.h"
#include "scalar.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/file_identity.h"
#include "symbol/elf/go_table.h"

/* --- .gnu_debugdata: a symbol table that some distributions leave in stripped files, as an ELF
 * file compressed by xz. Memory and size of the result are limited. --- */

#define MEMORY_MAX (256ULL << 20)
#define MINI_BYTES_MAX (64UL << 20)
#define GROWTH_MAX 32 /* xz makes a symbol table smaller by a factor of about 5 */

/* Opens the ELF file in the section .gnu_debugdata; the caller frees *memory after elf_end(). NULL:
 * the file lacks the section, or the section's bytes are not a packed ELF file. */
static Elf *open_mini_debug_elf(Elf *elf, char **memory)
{
	Elf_Data *packed = elf_section_data(elf, ".gnu_debugdata");
	size_t room = MINI_BYTES_MAX, in = 0, out = 0;
	uint64_t limit = MEMORY_MAX;
	Elf *mini = NULL;
	char *text;

	if (!packed)
		return NULL;
	if (packed->d_size < MINI_BYTES_MAX / GROWTH_MAX)
		room = packed->d_size * GROWTH_MAX;
	text = malloc(room);
	if (text && lzma_stream_buffer_decode(&limit, 0, NULL, packed->d_buf, &in, packed->d_size,
					      (u8 *)text, &out, room) == LZMA_OK)
		mini = elf_memory(text, out);
	if (mini && elf_kind(mini) == ELF_K_ELF) {
		*memory = text;
		return mini;
	}
	elf_end(mini);
	free(text);
	return NULL;
}

/* --- Sections compressed with zstd (ELFCOMPRESS_ZSTD), which libelf before 0.189 cannot read: the
 * file is copied to memory, with these sections unpacked after its end. The header of a section
 * gives the unpacked size, and the memory is allocated before; so a size that zstd hardly reaches
 * with debug information is rejected. --- */

#define TYPE_ZSTD 2 /* the value of ELFCOMPRESS_ZSTD, which older versions of elf.h lack */
#define UNPACKED_MAX(bytes) (1024 * (u64)(bytes) + 4096)
#define ALIGNMENT 16

struct packed_file {
	const char *data;
	size_t bytes;
	Elf64_Ehdr header;
};

static bool read_elf_header(Elf *elf, struct packed_file *file)
{
	const char *ident = elf_getident(elf, NULL);

	file->data = elf_rawfile(elf, &file->bytes);
	if (!file->data || !ident || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != ELFDATA2LSB || file->bytes < sizeof(file->header))
		return false;
	memcpy(&file->header, file->data, sizeof(file->header));
	return file->header.e_shentsize == sizeof(Elf64_Shdr) &&
	       file->header.e_shoff <= file->bytes &&
	       file->header.e_shnum <= (file->bytes - file->header.e_shoff) / sizeof(Elf64_Shdr);
}

static u64 section_header_offset(const struct packed_file *file, u32 index)
{
	return file->header.e_shoff + index * sizeof(Elf64_Shdr);
}

/* True if section `index` is compressed with zstd. Sets the section's header and the header of the
 * compressed bytes. */
static bool is_zstd_section(const struct packed_file *file, u32 index, Elf64_Shdr *section,
			    Elf64_Chdr *packed)
{
	memcpy(section, file->data + section_header_offset(file, index), sizeof(*section));
	if (!(section->sh_flags & SHF_COMPRESSED) || section->sh_type == SHT_NOBITS ||
	    section->sh_offset > file->bytes ||
	    section->sh_size > file->bytes - section->sh_offset ||
	    section->sh_size < sizeof(*packed))
		return false;
	memcpy(packed, file->data + section->sh_offset, sizeof(*packed));
	return packed->ch_type == TYPE_ZSTD;
}

static u64 align_up(u64 bytes)
{
	return (bytes + ALIGNMENT - 1) & -(u64)ALIGNMENT;
}

/* The size of a copy of the file with its sections unpacked; 0: no section has to be unpacked, or a
 * size is rejected. */
static u64 unpacked_file_bytes(const struct packed_file *file)
{
	u64 bytes = align_up(file->bytes), start = bytes;

	for (u32 i = 0; i < file->header.e_shnum; i++) {
		Elf64_Shdr section;
		Elf64_Chdr packed;

		if (!is_zstd_section(file, i, &section, &packed))
			continue;
		if (packed.ch_size > UNPACKED_MAX(section.sh_size))
			return 0;
		bytes += align_up(packed.ch_size);
	}
	return bytes == start ? 0 : bytes;
}

static bool unpack_section(const struct packed_file *file, u32 index, char *copy, u64 *end)
{
	Elf64_Shdr section;
	Elf64_Chdr packed;
	const char *content;

	if (!is_zstd_section(file, index, &section, &packed))
		return true;
	content = file->data + section.sh_offset + sizeof(packed);
	if (ZSTD_decompress(copy + *end, packed.ch_size, content,
			    section.sh_size - sizeof(packed)) != packed.ch_size)
		return false;
	section.sh_offset = *end;
	section.sh_size = packed.ch_size;
	section.sh_flags &= ~(u64)SHF_COMPRESSED;
	section.sh_addralign = packed.ch_addralign;
	memcpy(copy + section_header_offset(file, index), &section, sizeof(section));
	*end += align_up(packed.ch_size);
	return true;
}

/* True if any section is compressed with zstd. */
static bool has_zstd_section(Elf *elf)
{
	Elf64_Shdr section;
	Elf64_Chdr packed;
	struct packed_file file;
	u32 i = 0;

	if (!read_elf_header(elf, &file))
		return false;
	while (i < file.header.e_shnum && !is_zstd_section(&file, i, &section, &packed))
		i++;
	return i < file.header.e_shnum;
}

/* Copies the file to memory with its sections unpacked; the caller frees the memory after
 * elf_end(). NULL: no section is compressed with zstd, or a section cannot be unpacked. The file
 * may hold any bytes. */
static Elf *unpacked_elf_open(Elf *elf, char **memory)
{
	struct packed_file file;
	u64 bytes = read_elf_header(elf, &file) ? unpacked_file_bytes(&file) : 0, end;
	char *copy = bytes ? malloc(bytes) : NULL;
	bool is_whole = copy;
	Elf *unpacked;

	if (!copy)
		return NULL;
	memcpy(copy, file.data, file.bytes);
	end = align_up(file.bytes);
	for (u32 i = 0; i < file.header.e_shnum && is_whole; i++)
		is_whole = unpack_section(&file, i, copy, &end);
	unpacked = is_whole ? elf_memory(copy, bytes) : NULL;
	if (unpacked)
		*memory = copy;
	else
		free(copy);
	return unpacked;
}

#define UNITS_MAX (1U << 22)

/* Deflate unpacks two bits to at most 258 bytes, so one byte to 1032. A larger size in a header is
 * wrong, and libelf would allocate it before unpacking. */
#define INFLATED_MAX(bytes) (1032 * (bytes) + 1024)

/* The head of a compressed section from before SHF_COMPRESSED: "ZLIB" and the size, big-endian. */
#define ZDEBUG ".zdebug_"

struct debug_info {
	Elf *code, *debug, *shared_elf;
	Elf *mini; /* symbol table of .gnu_debugdata; NULL = the file has none */
	char *mini_memory;
	Elf *unpacked, *shared_unpacked; /* copies of the debug file and of the file made by dwz,
					    with unpacked sections; NULL = libelf reads the file
					    itself */
	char *unpacked_memory, *shared_memory;
	Dwarf *dwarf, *shared;
	struct elf_segments segments;
	struct symbol_table *symbols;
	/* Go's function table in `code`, for code that the DWARF does not cover. */
	struct go_table go;
	struct dwarf_line_sections lines;
	struct code_ranges text;
	Dwarf_Die *units;
	u32 unit_count, unit_room;
	/* Address ranges of the units; the value is the index of the unit. */
	struct code_ranges ranges;
	u64 slide; /* for a kernel: run time address - link time address; else 0 */
	bool is_kernel;
	bool is_damaged;
	bool is_split; /* functions are described in other files (.dwo, .dwp) */
};

static u64 unpacked_bytes_by_section_header(Elf_Scn *section, const GElf_Shdr *header,
					    const char *name)
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

/* The file is mapped, as few pages of a large debug file are read. If the file is truncated
 * meanwhile, SIGBUS ends the sandbox that runs this code. */
static Elf *open_elf(int file)
{
	Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);

	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		elf = NULL;
	}
	return elf;
}

static int add_unit_range(void *arg, u64 start, u64 end)
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
	result = dwarf_entry_ranges(&info->units[info->unit_count], &info->text, add_unit_range,
				    info);
	info->is_damaged |= result == -EBADMSG;
	if (result == -ENOMEM)
		return result;
	info->unit_count++;
	return 0;
}

/* Reads the list of units. `has_units`: .debug_info of the file has bytes. */
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

/* Opens the DWARF of a file. *has_units: .debug_info has bytes. NULL: no DWARF, or a section claims
 * more unpacked bytes than deflate can make. */
static Dwarf *open_checked_dwarf(Elf *elf, const struct debug_files *files, bool *has_units)
{
	Elf_Scn *section = NULL;
	bool is_bomb = false;
	GElf_Shdr header;
	Dwarf *dwarf;
	size_t names;

	*has_units = false;
	if (!elf_getshdrstrndx(elf, &names))
		while ((section = elf_nextscn(elf, section))) {
			const char *name = gelf_getshdr(section, &header)
						   ? elf_strptr(elf, names, header.sh_name)
						   : NULL;

			if (!name)
				continue;
			*has_units |=
				header.sh_type != SHT_NOBITS &&
				(!strcmp(name, ".debug_info") || !strcmp(name, ZDEBUG "info"));
			is_bomb |= unpacked_bytes_by_section_header(section, &header, name) >
				   INFLATED_MAX(header.sh_size);
		}
	dwarf = is_bomb ? NULL : dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (dwarf && files->no_memory)
		dwarf_new_oom_handler(dwarf, files->no_memory);
	return dwarf;
}

/* Returns the file itself, or a copy with unpacked sections if libelf cannot unpack them. */
static Elf *open_unpacked_copy(struct debug_info *info, Elf *elf, Elf **unpacked, char **memory)
{
	if (!has_zstd_section(elf))
		return elf;
	*unpacked = unpacked_elf_open(elf, memory);
	info->is_damaged |= !*unpacked;
	return *unpacked ?: elf;
}

static int open_dwarf(struct debug_info *info, const struct debug_files *files)
{
	struct debug_link link;
	bool has_units;
	Elf *elf = open_unpacked_copy(info, info->debug ?: info->code, &info->unpacked,
				      &info->unpacked_memory);

	info->shared_elf = open_elf(files->shared);
	if (info->shared_elf)
		info->shared = open_checked_dwarf(open_unpacked_copy(info, info->shared_elf,
								     &info->shared_unpacked,
								     &info->shared_memory),
						  files, &has_units);
	if (!info->shared) {
		debug_link_read(elf, &link);
		if (link.shared[0]) {
			info->is_damaged = info->shared_elf;
			return 0;
		}
	}
	info->dwarf = open_checked_dwarf(elf, files, &has_units);
	if (!info->dwarf) {
		info->is_damaged = has_units;
		return 0;
	}
	if (info->shared)
		dwarf_setalt(info->dwarf, info->shared);
	dwarf_line_sections_find(elf, &info->lines);
	return elf_text_read(elf, &info->text) ?: read_units(info, has_units);
}

static int read_symbols(struct debug_info *info)
{
	Elf *elves[] = {info->code, info->debug, NULL};
	int result = symbol_table_create(&info->symbols);

	elves[2] = info->mini = open_mini_debug_elf(info->code, &info->mini_memory);
	for (u32 i = 0; i < sizeof(elves) / sizeof(elves[0]) && !result; i++)
		if (elves[i])
			result = elf_symbols_collect(elves[i], &info->segments, info->symbols);
	if (!result)
		symbol_table_seal(info->symbols);
	return result == -ENOEXEC ? 0 : result;
}

static int read_files(struct debug_info *info, const struct debug_files *files, u64 stext)
{
	u64 linked;
	int result;

	info->code = open_elf(files->code);
	info->debug = open_elf(files->debug);
	if (!info->code && !info->debug)
		return -ENOEXEC;
	if (!info->code && files->layout && files->layout->count)
		info->segments = *files->layout;
	else
		elf_segments_read(info->code ?: info->debug, &info->segments);
	if (!info->code) {
		info->code = info->debug;
		info->debug = NULL;
	}
	if (stext) {
		info->is_kernel = true;
		result = elf_symbol_address(info->debug ?: info->code, "_stext", &linked)
				 ? 0
				 : -ENODATA;
		info->slide = result ? 0 : stext - linked;
	} else {
		result = read_symbols(info);
		go_table_read(info->code, &info->go);
	}
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
	elf_end(it->mini);
	free(it->mini_memory);
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

/* Translates a place (file offset, or run time address of a kernel) to an address of the DWARF. */
static bool dwarf_address(const struct debug_info *info, u64 place, u64 *address)
{
	const struct elf_segment *segment;

	if (info->is_kernel) {
		*address = place - info->slide;
		return true;
	}
	segment = elf_segment_at_offset(&info->segments, place);
	if (segment)
		*address = segment->address + (place - segment->offset);
	return segment;
}

#define NO_UNIT UINT32_MAX

struct target {
	u32 unit;  /* index of the unit; NO_UNIT: no unit covers the place */
	u32 index; /* index of the place */
	u64 address;
};

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	return order(a->unit, b->unit) ?: order(a->address, b->address);
}

struct group {
	const struct target *targets;
	code_place_each each;
	void *arg;
};

static int pass_functions_of_target_to_caller(void *arg, u32 index,
					      const struct code_place *functions, u32 count)
{
	const struct group *group = arg;

	return group->each(group->arg, group->targets[index].index, functions, count);
}

/* Finds the functions at target places that are all in one unit, or all in Go code outside of
 * units. `addresses` has room for `count` addresses. */
static int find_functions_in_unit(struct debug_info *info, const struct target *targets, u32 count,
				  u64 *addresses, struct group *group)
{
	int result = 0;

	group->targets = targets;
	for (u32 i = 0; i < count; i++)
		addresses[i] = targets[i].address;
	if (targets->unit != NO_UNIT)
		return dwarf_unit_find(&info->units[targets->unit], &info->text, &info->lines,
				       addresses, count, pass_functions_of_target_to_caller, group,
				       &info->is_damaged);
	for (u32 i = 0; i < count && !result; i++) {
		struct code_place places[CODE_PLACES_MAX];
		u32 functions = go_table_find_places(&info->go, addresses[i], places);

		result = pass_functions_of_target_to_caller(group, i, places, functions);
	}
	return result;
}

int debug_info_find_functions(struct debug_info *info, const u64 *places, u32 count,
			      code_place_each each, void *arg)
{
	struct target *targets = calloc(count + 1UL, sizeof(*targets));
	u64 *addresses = calloc(count + 1UL, sizeof(*addresses));
	struct group group = {.each = each, .arg = arg};
	int result = targets && addresses ? 0 : -ENOMEM;

	for (u32 i = 0; i < count && !result; i++) {
		struct target *target = &targets[i];

		target->index = i;
		if (!dwarf_address(info, places[i], &target->address) || !info->dwarf ||
		    !code_ranges_find(&info->ranges, target->address, &target->unit))
			target->unit = NO_UNIT;
	}
	if (!result && count)
		qsort(targets, count, sizeof(*targets), compare_targets);
	for (u32 first = 0, end = 0; first < count && !result; first = end) {
		while (end < count && targets[end].unit == targets[first].unit)
			end++;
		result = find_functions_in_unit(info, &targets[first], end - first, addresses,
						&group);
	}
	free(targets);
	free(addresses);
	return result;
}

bool debug_info_symbol(const struct debug_info *info, u64 place, struct symbol *symbol)
{
	return info->symbols && symbol_table_find(info->symbols, place, symbol);
}

int debug_info_argument(struct debug_info *info, u64 place, const char *name, const char *path,
			struct dwarf_argument *out, char reason[DWARF_ARGUMENT_REASON_BYTES])
{
	struct symbol symbol = {.name = name};
	u64 address;
	u32 unit;

	reason[0] = '\0';
	if (!dwarf_address(info, place, &address) || !info->dwarf ||
	    !code_ranges_find(&info->ranges, address, &unit))
		return -ENODATA;
	/* Any symbol at the address will do: dwarf_argument_find() only needs to know whether the
	 * function is a clone, and a clone is a clone under each of its names. */
	if (!name[0] && !debug_info_symbol(info, place, &symbol))
		symbol.name = "the function";
	return dwarf_argument_find(&info->units[unit], address, symbol.name, path, out, reason);
}
