/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Section headers, which stripping keeps, give code, symbols and relocations. A file without
 * section headers is read by its segments, and has no names. The file is not trusted, so each size
 * is checked before reading.
 */
#include "code_file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"

/* Functions of the C and C++ runtimes that never return. */
static const char *const noreturn_names[] = {
	"abort",
	"exit",
	"_exit",
	"_Exit",
	"quick_exit",
	"pthread_exit",
	"thrd_exit",
	"__stack_chk_fail",
	"__fortify_fail",
	"__chk_fail",
	"__assert_fail",
	"__assert",
	"__assert_perror_fail",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp_chk",
	"err",
	"errx",
	"verr",
	"verrx",
	"__libc_start_main",
	"__libc_fatal",
	"__cxa_throw",
	"__cxa_rethrow",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_throw_bad_array_new_length",
	"__cxa_throw_bad_array_length",
	"__cxa_call_unexpected",
	"__cxa_call_terminate",
	"__cxa_pure_virtual",
	"__cxa_deleted_virtual",
	"_Unwind_Resume",
	"_ZSt9terminatev",
	"_ZSt10unexpectedv",
	"_ZSt17__throw_bad_allocv",
	"_ZSt16__throw_bad_castv",
	"_ZSt18__throw_bad_typeidv",
	"_ZSt19__throw_logic_errorPKc",
	"_ZSt20__throw_length_errorPKc",
	"_ZSt20__throw_out_of_rangePKc",
	"_ZSt24__throw_out_of_range_fmtPKcz",
	"_ZSt24__throw_invalid_argumentPKc",
	"_ZSt21__throw_runtime_errorPKc",
	"_ZSt19__throw_range_errorPKc",
	"_ZSt20__throw_domain_errorPKc",
	"_ZSt22__throw_overflow_errorPKc",
	"_ZSt23__throw_underflow_errorPKc",
	"_ZSt19__throw_ios_failurePKc",
	"_ZSt19__throw_ios_failurePKci",
	"_ZSt20__throw_system_errori",
	"_ZSt20__throw_future_errori",
	"_ZSt25__throw_bad_function_callv",
	"_ZSt21__throw_bad_exceptionv",
	"_ZSt28__throw_bad_array_new_lengthv",
	"_ZSt33__throw_bad_variant_accessPKc",
	"_ZSt21__glibcxx_assert_failPKciS0_S0_",
	"_ZSt29__throw_regex_errorNSt15regex_constants10error_typeE",
	"_ZSt29__throw_bad_optional_accessv",
};

static bool is_noreturn_name(const char *name)
{
	for (unsigned int i = 0; i < sizeof(noreturn_names) / sizeof(noreturn_names[0]); i++)
		if (!strcmp(name, noreturn_names[i]))
			return true;
	return false;
}

#define SEGMENTS_MAX 64
#define SECTIONS_MAX 4096
#define CODE_BYTES_MAX (256U << 20)
/* The most bytes of a table of symbols, names or relocations. */
#define TABLE_BYTES_MAX (64U << 20)
#define BLOCK_BYTES 16384U
/* Instructions of arm64. */
#define BTI 0xd503241f
#define BTI_MASK 0xffffff3f
#define STP_X16_LINK 0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */
/* Stands for the target of a pointer that the dynamic linker binds to another file. */
#define IMPORTED 0

struct code_file {
	int file;
	u64 file_bytes;
	Elf64_Ehdr header;
	Elf64_Phdr segment[SEGMENTS_MAX];
	u32 segment_count;
	bool has_interpreter;
	Elf64_Shdr *sections;
	u32 section_count;
	u8 *bytes;
	struct file_span *spans;
	u32 span_count, span_room;
	struct file_span *symbols;
	u32 symbol_count, symbol_room;
	struct code_pointer *pointers;
	u32 pointer_count, pointer_room;
	u32 *noreturn;
	u32 noreturn_count, noreturn_room;
	u64 block_start; /* file offset of the bytes in `block` */
	u32 block_bytes;
	u8 block[BLOCK_BYTES];
	struct code_image image;
};

/* --- Bytes of the file. --- */

static bool read_file_at(const struct code_file *file, u64 offset, void *buffer, u64 bytes)
{
	return offset <= file->file_bytes && bytes <= file->file_bytes - offset &&
	       pread(file->file, buffer, bytes, offset) == (ssize_t)bytes;
}

/* Reads a table of the file, for the caller to free; NULL: it cannot be read. */
static void *read_file_table(const struct code_file *file, u64 offset, u64 bytes)
{
	void *table;

	if (!bytes || bytes > TABLE_BYTES_MAX)
		return NULL;
	table = malloc(bytes + 1);
	if (table && !read_file_at(file, offset, table, bytes)) {
		free(table);
		return NULL;
	}
	if (table)
		((u8 *)table)[bytes] = 0;
	return table;
}

/* Gives the file offset of a range of memory; false: the file does not have the whole range. */
static bool file_offset_of_range(const struct code_file *file, u64 address, u32 bytes, u64 *offset)
{
	for (u32 i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segment[i];
		u64 at = address - segment->p_vaddr;

		if (at < segment->p_filesz && segment->p_filesz - at >= bytes) {
			*offset = segment->p_offset + at;
			return true;
		}
	}
	return false;
}

static bool read_file_at_address(void *context, u32 address, void *buffer, u32 bytes)
{
	struct code_file *file = context;
	u64 offset, start;

	if (bytes > BLOCK_BYTES / 2 || !file_offset_of_range(file, address, bytes, &offset))
		return false;
	if (offset < file->block_start || offset + bytes > file->block_start + file->block_bytes) {
		u64 left;

		start = offset & -(u64)(BLOCK_BYTES / 2);
		if (start >= file->file_bytes)
			return false;
		left = file->file_bytes - start;
		file->block_start = start;
		file->block_bytes = left < BLOCK_BYTES ? left : BLOCK_BYTES;
		if (!read_file_at(file, start, file->block, file->block_bytes))
			file->block_bytes = 0;
		if (offset + bytes > start + file->block_bytes)
			return false;
	}
	memcpy(buffer, file->block + (offset - file->block_start), bytes);
	return true;
}

/* --- Headers. --- */

static int read_headers(struct code_file *file)
{
	Elf64_Ehdr *header = &file->header;

	if (!read_file_at(file, 0, header, sizeof(*header)) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != REGISTERS_ELF_MACHINE ||
	    header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	for (u32 i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr *segment = &file->segment[file->segment_count];

		if (!read_file_at(file, header->e_phoff + i * sizeof(*segment), segment,
				  sizeof(*segment)))
			return -ENOEXEC;
		file->has_interpreter |= segment->p_type == PT_INTERP;
		file->segment_count += segment->p_type == PT_LOAD;
	}
	if (header->e_shentsize != sizeof(Elf64_Shdr) || !header->e_shnum ||
	    header->e_shnum > SECTIONS_MAX)
		return 0;
	file->sections =
		read_file_table(file, header->e_shoff, (u64)header->e_shnum * sizeof(Elf64_Shdr));
	file->section_count = file->sections ? header->e_shnum : 0;
	return 0;
}

static bool is_executable(const Elf64_Phdr *segment)
{
	return segment->p_flags & PF_X && segment->p_filesz;
}

static int find_code_bounds(struct code_file *file)
{
	u64 start = UINT64_MAX, end = 0;

	for (u32 i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segment[i];

		if (!is_executable(segment))
			continue;
		if (segment->p_vaddr > INT32_MAX || segment->p_filesz > CODE_BYTES_MAX ||
		    segment->p_vaddr + segment->p_filesz > INT32_MAX)
			return -ENOEXEC;
		if (segment->p_vaddr < start)
			start = segment->p_vaddr;
		if (segment->p_vaddr + segment->p_filesz > end)
			end = segment->p_vaddr + segment->p_filesz;
	}
	if (start >= end || end - start > CODE_BYTES_MAX || end - start > file->file_bytes * 4)
		return -ENOEXEC;
	file->image.start = start;
	file->image.end = end;
	return 0;
}

/* Reads all code into one buffer, as it is mapped. */
static int read_all_code(struct code_file *file)
{
	u32 start = file->image.start;

	file->bytes = calloc(file->image.end - start, 1);
	if (!file->bytes)
		return -ENOMEM;
	for (u32 i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segment[i];

		if (is_executable(segment) &&
		    !read_file_at(file, segment->p_offset, file->bytes + (segment->p_vaddr - start),
				  segment->p_filesz))
			return -ENOEXEC;
	}
	file->image.bytes = file->bytes;
	return 0;
}

static bool is_code_range(const struct code_file *file, u64 start, u64 bytes)
{
	return start >= file->image.start && start < file->image.end &&
	       bytes <= file->image.end - start;
}

static int add_code_span(struct code_file *file, u64 start, u64 bytes)
{
	if (!bytes || !is_code_range(file, start, bytes))
		return 0;
	if (array_make_room(file->spans, file->span_count, file->span_room))
		return -ENOMEM;
	file->spans[file->span_count++] = (struct file_span){start, start + bytes};
	return 0;
}

static int compare_span_starts(const void *left, const void *right)
{
	const struct file_span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

/* Sorts spans, keeps one of each start, and cuts overlaps. Returns the number of spans that are
 * left. */
static u32 sort_spans(struct file_span *spans, u32 count)
{
	u32 kept = 0;

	if (count)
		qsort(spans, count, sizeof(*spans), compare_span_starts);
	for (u32 i = 0; i < count; i++)
		if (!kept || spans[kept - 1].start != spans[i].start)
			spans[kept++] = spans[i];
	for (u32 i = 0; i + 1 < kept; i++)
		if (spans[i].end > spans[i + 1].start)
			spans[i].end = spans[i + 1].start;
	return kept;
}

/* True if a section is arm64's PLT. The PLT has no unwind table and needs no analysis: the unwinder
 * recognises its stubs at the event. */
static bool is_plt_of_arm64(struct code_file *file, const Elf64_Shdr *section)
{
	u32 code[2];

	return file->header.e_machine == EM_AARCH64 && section->sh_addr <= INT32_MAX &&
	       read_file_at_address(file, section->sh_addr, code, sizeof(code)) &&
	       code[(code[0] & BTI_MASK) == BTI] == STP_X16_LINK;
}

static int find_code_sections(struct code_file *file)
{
	int result = 0;

	for (u32 i = 0; i < file->section_count && !result; i++) {
		const Elf64_Shdr *section = &file->sections[i];

		if (section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR &&
		    section->sh_flags & SHF_ALLOC && !is_plt_of_arm64(file, section))
			result = add_code_span(file, section->sh_addr, section->sh_size);
	}
	for (u32 i = 0; i < file->segment_count && !result && !file->section_count; i++)
		if (is_executable(&file->segment[i]))
			result = add_code_span(file, file->segment[i].p_vaddr,
					       file->segment[i].p_filesz);
	file->span_count = sort_spans(file->spans, file->span_count);
	return result;
}

/* --- Symbols and pointers. --- */

static int add_noreturn_slot(struct code_file *file, u64 slot, const char *name)
{
	if (slot > INT32_MAX || !is_noreturn_name(name))
		return 0;
	if (array_make_room(file->noreturn, file->noreturn_count, file->noreturn_room))
		return -ENOMEM;
	file->noreturn[file->noreturn_count++] = slot;
	return 0;
}

static int add_function_symbol(struct code_file *file, const Elf64_Sym *symbol, const char *name)
{
	u32 type = ELF64_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    !is_code_range(file, symbol->st_value, 1) || strstr(name, ".cold"))
		return 0;
	if (add_noreturn_slot(file, symbol->st_value, name) ||
	    array_make_room(file->symbols, file->symbol_count, file->symbol_room))
		return -ENOMEM;
	file->symbols[file->symbol_count++] = (struct file_span){
		symbol->st_value, is_code_range(file, symbol->st_value, symbol->st_size)
					  ? symbol->st_value + symbol->st_size
					  : symbol->st_value};
	return 0;
}

/* A section of symbols with their names. */
struct symbols {
	Elf64_Sym *symbol;
	u64 count;
	char *names;
	u64 name_bytes;
};

static void symbols_free(struct symbols *symbols)
{
	free(symbols->symbol);
	free(symbols->names);
	*symbols = (struct symbols){};
}

static void symbols_read(const struct code_file *file, u32 index, struct symbols *symbols)
{
	const Elf64_Shdr *section, *names;

	*symbols = (struct symbols){};
	if (index >= file->section_count)
		return;
	section = &file->sections[index];
	if (section->sh_link >= file->section_count ||
	    (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM))
		return;
	names = &file->sections[section->sh_link];
	symbols->symbol = read_file_table(file, section->sh_offset, section->sh_size);
	symbols->names = read_file_table(file, names->sh_offset, names->sh_size);
	symbols->count = section->sh_size / sizeof(Elf64_Sym);
	symbols->name_bytes = names->sh_size;
	if (!symbols->symbol || !symbols->names)
		symbols_free(symbols);
}

static const char *symbol_name(const struct symbols *symbols, const Elf64_Sym *symbol)
{
	return symbol->st_name < symbols->name_bytes ? symbols->names + symbol->st_name : "";
}

static int read_symbols(struct code_file *file)
{
	int result = 0;

	for (u32 i = 0; i < file->section_count && !result; i++) {
		struct symbols symbols;

		symbols_read(file, i, &symbols);
		for (u64 j = 0; j < symbols.count && !result; j++)
			result = add_function_symbol(file, &symbols.symbol[j],
						     symbol_name(&symbols, &symbols.symbol[j]));
		symbols_free(&symbols);
	}
	file->symbol_count = sort_spans(file->symbols, file->symbol_count);
	return result;
}

static int append_code_pointer(struct code_file *file, u64 slot, u64 target)
{
	if (array_make_room(file->pointers, file->pointer_count, file->pointer_room))
		return -ENOMEM;
	file->pointers[file->pointer_count++] = (struct code_pointer){slot, target};
	return 0;
}

static int add_code_pointer(struct code_file *file, u64 slot, u64 target)
{
	if (slot > INT32_MAX || !is_code_range(file, target, 1))
		return 0;
	return append_code_pointer(file, slot, target);
}

/* Records a slot that is bound to another file's function. The word that the file has in the slot
 * does not lead to that function: with lazy binding the word is the address of the slot's own stub.
 */
static int add_slot_of_imported_function(struct code_file *file, u64 slot, const char *name)
{
	if (slot > INT32_MAX)
		return 0;
	return add_noreturn_slot(file, slot, name) ?: append_code_pointer(file, slot, IMPORTED);
}

/* The type of a relocation, as its number for x86-64; R_X86_64_NONE: a type of arm64 that does not
 * store an address. */
static u32 relocation_type_as_x86(const struct code_file *file, u64 info)
{
	static const u32 types[][2] = {
		{R_AARCH64_RELATIVE, R_X86_64_RELATIVE}, {R_AARCH64_IRELATIVE, R_X86_64_IRELATIVE},
		{R_AARCH64_GLOB_DAT, R_X86_64_GLOB_DAT}, {R_AARCH64_JUMP_SLOT, R_X86_64_JUMP_SLOT},
		{R_AARCH64_ABS64, R_X86_64_64},
	};
	u32 type = ELF64_R_TYPE(info);

	if (file->header.e_machine != EM_AARCH64)
		return type;
	for (u32 i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (type == types[i][0])
			return types[i][1];
	return R_X86_64_NONE;
}

static int add_relocation(struct code_file *file, const Elf64_Rela *relocation,
			  const struct symbols *symbols)
{
	u32 type = relocation_type_as_x86(file, relocation->r_info);
	u32 number = ELF64_R_SYM(relocation->r_info);
	const Elf64_Sym *symbol = number < symbols->count ? &symbols->symbol[number] : NULL;

	if (type == R_X86_64_RELATIVE)
		return add_code_pointer(file, relocation->r_offset, relocation->r_addend);
	/* The word is the address of a resolver, but the slot later leads to what the resolver
	 * returns. */
	if (type == R_X86_64_IRELATIVE)
		return add_code_pointer(file, INT32_MAX, relocation->r_addend)
			       ?: add_slot_of_imported_function(file, relocation->r_offset, "");
	if (!symbol ||
	    (type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT && type != R_X86_64_64))
		return 0;
	if (symbol->st_shndx == SHN_UNDEF || is_noreturn_name(symbol_name(symbols, symbol)))
		return add_slot_of_imported_function(file, relocation->r_offset,
						     symbol_name(symbols, symbol));
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
		return type == R_X86_64_JUMP_SLOT
			       ? add_slot_of_imported_function(file, relocation->r_offset, "")
			       : 0;
	return add_code_pointer(file, relocation->r_offset,
				symbol->st_value + relocation->r_addend);
}

static int read_relocations(struct code_file *file, const Elf64_Shdr *section)
{
	Elf64_Rela *relocations = read_file_table(file, section->sh_offset, section->sh_size);
	struct symbols symbols;
	int result = 0;

	symbols_read(file, section->sh_link, &symbols);
	for (u64 i = 0; relocations && i < section->sh_size / sizeof(*relocations) && !result; i++)
		result = add_relocation(file, &relocations[i], &symbols);
	symbols_free(&symbols);
	free(relocations);
	return result;
}

static int add_relative_pointer(struct code_file *file, u64 slot)
{
	u64 target;

	if (slot > INT32_MAX || !read_file_at_address(file, slot, &target, sizeof(target)))
		return 0;
	return add_code_pointer(file, slot, target);
}

/* Compact relative relocations: an address, then bits for the 63 words after it. */
static int read_compact_relocations(struct code_file *file, const Elf64_Shdr *section)
{
	u64 *words = read_file_table(file, section->sh_offset, section->sh_size), slot = 0;
	int result = 0;

	for (u64 i = 0; words && i < section->sh_size / sizeof(*words) && !result; i++) {
		if (!(words[i] & 1)) {
			result = add_relative_pointer(file, words[i]);
			slot = words[i] + 8;
			continue;
		}
		for (u32 bit = 1; bit < 64 && !result; bit++)
			if (words[i] >> bit & 1)
				result = add_relative_pointer(file, slot + 8 * (bit - 1));
		slot += 8 * 63;
	}
	free(words);
	return result;
}

/* Records the addresses of code that words of a data section hold. Call for a file with fixed
 * addresses only: there such words need no relocation. */
static int scan_data_for_pointers(struct code_file *file, const Elf64_Shdr *section)
{
	u64 *words = read_file_table(file, section->sh_offset, section->sh_size);
	int result = 0;

	for (u64 i = 0; words && i < section->sh_size / sizeof(*words) && !result; i++)
		result = add_code_pointer(file, section->sh_addr + 8 * i, words[i]);
	free(words);
	return result;
}

static int compare_slots(const void *left, const void *right)
{
	const struct code_pointer *a = left, *b = right;

	if (a->slot == b->slot)
		return (a->target > b->target) - (a->target < b->target);
	return (a->slot > b->slot) - (a->slot < b->slot);
}

/* Drops all pointers in slots that are bound to another file's function. */
static void drop_pointers_in_imported_slots(struct code_file *file)
{
	u32 kept = 0;

	for (u32 i = 0, next; i < file->pointer_count; i = next) {
		bool is_imported = file->pointers[i].target == IMPORTED;

		for (next = i; next < file->pointer_count &&
			       file->pointers[next].slot == file->pointers[i].slot;
		     next++)
			if (!is_imported)
				file->pointers[kept++] = file->pointers[next];
	}
	file->pointer_count = kept;
}

static int compare_addresses(const void *left, const void *right)
{
	const u32 *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int read_code_pointers(struct code_file *file)
{
	bool is_fixed = file->header.e_type == ET_EXEC;
	int result = 0;

	for (u32 i = 0; i < file->section_count && !result; i++) {
		const Elf64_Shdr *section = &file->sections[i];
		bool is_data = section->sh_type == SHT_PROGBITS ||
			       section->sh_type == SHT_INIT_ARRAY ||
			       section->sh_type == SHT_FINI_ARRAY;

		if (!(section->sh_flags & SHF_ALLOC))
			continue;
		if (section->sh_type == SHT_RELA)
			result = read_relocations(file, section);
		else if (section->sh_type == 19) /* SHT_RELR */
			result = read_compact_relocations(file, section);
		else if (is_fixed && is_data && section->sh_flags & SHF_WRITE &&
			 section->sh_addr % 8 == 0)
			result = scan_data_for_pointers(file, section);
	}
	if (file->pointer_count)
		qsort(file->pointers, file->pointer_count, sizeof(*file->pointers), compare_slots);
	drop_pointers_in_imported_slots(file);
	if (file->noreturn_count)
		qsort(file->noreturn, file->noreturn_count, sizeof(*file->noreturn),
		      compare_addresses);
	return result;
}

/* True if the code at the address passes the stack pointer that it was entered with to another
 * function. The code that the kernel enters does so, since the program's arguments lie on that
 * stack. */
static bool passes_entry_rsp_as_argument(struct code_file *file, u64 address)
{
	static const u8 to_rdi[] = {0x48, 0x89, 0xe7};	     /* mov %rsp, %rdi */
	static const u8 to_rdx[] = {0x5e, 0x48, 0x89, 0xe2}; /* pop %rsi; mov %rsp, %rdx */
	u8 code[16];

	return read_file_at_address(file, address, code, sizeof(code)) &&
	       (memmem(code, sizeof(code), to_rdi, sizeof(to_rdi)) ||
		memmem(code, sizeof(code), to_rdx, sizeof(to_rdx)));
}

int code_file_load(struct code_file *file)
{
	struct code_image *image = &file->image;
	u64 entry = file->header.e_entry;
	bool is_program = file->header.e_type == ET_EXEC || file->has_interpreter;
	int result = read_all_code(file) ?: read_symbols(file) ?: read_code_pointers(file);

	/* The address at which the kernel enters the file; 0: none. Linkers also write an entry
	 * point to libraries, which is the begin of their code. */
	image->entry = is_code_range(file, entry, 1) &&
				       (is_program || passes_entry_rsp_as_argument(file, entry))
			       ? entry
			       : 0;
	image->symbols = file->symbols;
	image->symbol_count = file->symbol_count;
	image->pointers = file->pointers;
	image->pointer_count = file->pointer_count;
	image->noreturn = file->noreturn;
	image->noreturn_count = file->noreturn_count;
	return result;
}

int code_file_open(int descriptor, const struct file_span *covered, u32 count,
		   struct code_file **out)
{
	struct code_file *file = calloc(1, sizeof(*file));
	struct code_image *image;
	struct stat status;
	int result = 0;

	if (!file)
		return -ENOMEM;
	image = &file->image;
	file->file = descriptor;
	if (fstat(descriptor, &status))
		result = -errno;
	else
		file->file_bytes = status.st_size > 0 ? status.st_size : 0;
	result = result ?: read_headers(file) ?: find_code_bounds(file) ?: find_code_sections(file);
	for (u32 i = 0; i < file->section_count; i++)
		image->has_symbols |= file->sections[i].sh_type == SHT_SYMTAB ||
				      file->sections[i].sh_type == SHT_DYNSYM;
	image->machine = file->header.e_machine;
	image->is_fixed = file->header.e_type == ET_EXEC;
	image->sections = file->spans;
	image->section_count = file->span_count;
	image->covered = covered;
	image->covered_count = count;
	image->read = read_file_at_address;
	image->context = file;
	if (result)
		code_file_free(&file);
	else
		*out = file;
	return result;
}

int code_file_create(int descriptor, const struct file_span *covered, u32 count,
		     struct code_file **out)
{
	struct code_file *file = NULL;
	int result = code_file_open(descriptor, covered, count, &file);

	result = result ?: code_file_load(file);
	if (result)
		code_file_free(&file);
	else
		*out = file;
	return result;
}

void code_file_free(struct code_file **file_at)
{
	struct code_file *file = *file_at;

	if (!file)
		return;
	free(file->sections);
	free(file->bytes);
	free(file->spans);
	free(file->symbols);
	free(file->pointers);
	free(file->noreturn);
	free(file);
	*file_at = NULL;
}

const struct code_image *code_file_image(const struct code_file *file)
{
	return &file->image;
}

static bool is_function_address(const struct code_file *file, u32 address)
{
	for (u32 i = 0; i < file->span_count; i++)
		if (address - file->spans[i].start < file->spans[i].end - file->spans[i].start)
			return true;
	return false;
}

void code_file_strip(struct code_file *file)
{
	struct code_image *image = &file->image;
	u32 kept = 0;

	image->has_symbols = false;
	image->symbol_count = 0;
	for (u32 i = 0; i < image->noreturn_count; i++)
		if (!is_function_address(file, file->noreturn[i]))
			file->noreturn[kept++] = file->noreturn[i];
	image->noreturn_count = kept;
}
