/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libelf checks the file's tables as it reads them; the bytes of a note are checked here. */
#include "usdt_probe.h"

#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/host.h"
#include "symbol/elf/elf_layout.h"

#define SECTION ".note.stapsdt"
#define SECTION_OF_BASE ".stapsdt.base"
#define OWNER "stapsdt"
#define NOTE_TYPE 3
#define ADDRESSES 3 /* number of addresses in a note: probe, base, semaphore */

struct walk {
	Elf *elf;
	size_t names; /* index of the section with the names of sections */
	u64 base;     /* address of .stapsdt.base; 0: the file has none */
	struct elf_segments segments;
	usdt_visit visit;
	void *arg;
};

/* The file offset of a variable; 0: the file has no bytes for the variable. */
static u64 file_offset_of_variable(const struct walk *walk, u64 address)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(walk->elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(walk->elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	return 0;
}

/* Cuts a string from the note; NULL: the note ends before the string. */
static const char *take_string_from_note(const char **text, const char *end)
{
	const char *string = *text, *nul = memchr(string, '\0', end - string);

	if (!nul)
		return NULL;
	*text = nul + 1;
	return string;
}

static int visit_probe_of_elf_note(const struct walk *walk, const char *text, size_t bytes)
{
	bool is_64_bit = gelf_getclass(walk->elf) == ELFCLASS64;
	size_t width = is_64_bit ? sizeof(u64) : sizeof(u32);
	const struct elf_segment *code;
	const char *end = text + bytes;
	u64 address[ADDRESSES] = {}, moved;
	struct usdt_probe probe;

	if (bytes < ADDRESSES * width)
		return 0;
	for (u32 i = 0; i < ADDRESSES; i++, text += width)
		/* The numbers of the note are little endian, as those of this machine. */
		memcpy(&address[i], text, width);
	/* Tools that move sections of a finished file (prelink) do not change the notes, so the
	 * address of .stapsdt.base tells by how much addresses moved. */
	moved = walk->base && address[1] ? walk->base - address[1] : 0;
	probe.provider = take_string_from_note(&text, end);
	probe.name = probe.provider ? take_string_from_note(&text, end) : NULL;
	probe.arguments = probe.name ? take_string_from_note(&text, end) : NULL;
	if (!probe.arguments)
		return 0;
	code = elf_segment_of_address(&walk->segments, address[0] + moved);
	probe.offset = code ? address[0] + moved - code->address + code->offset : 0;
	probe.semaphore = address[2] ? file_offset_of_variable(walk, address[2] + moved) : 0;
	if (!probe.offset || !probe.semaphore != !address[2])
		return 0;
	return walk->visit(walk->arg, &probe);
}

static int visit_notes(const struct walk *walk, Elf_Data *data)
{
	size_t at = 0, name, text;
	GElf_Nhdr note;
	int err = 0;

	while (!err && (at = gelf_getnote(data, at, &note, &name, &text)))
		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(OWNER) &&
		    !memcmp((char *)data->d_buf + name, OWNER, sizeof(OWNER)))
			err = visit_probe_of_elf_note(walk, (char *)data->d_buf + text,
						      note.n_descsz);
	return err;
}

/* Returns the next section whose name is `name`; NULL: no further section has this name. */
static Elf_Scn *next_section_of_name(const struct walk *walk, Elf_Scn *section, const char *name,
				     GElf_Shdr *header)
{
	while ((section = elf_nextscn(walk->elf, section))) {
		const char *found = gelf_getshdr(section, header)
					    ? elf_strptr(walk->elf, walk->names, header->sh_name)
					    : NULL;

		if (found && !strcmp(found, name))
			break;
	}
	return section;
}

static int visit_note_sections(struct walk *walk)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	if (elf_getshdrstrndx(walk->elf, &walk->names))
		return 0;
	if (next_section_of_name(walk, NULL, SECTION_OF_BASE, &header))
		walk->base = header.sh_addr;
	while (!err && (section = next_section_of_name(walk, section, SECTION, &header))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (data && data->d_buf)
			err = visit_notes(walk, data);
	}
	return err;
}

int usdt_probe_each(int fd, usdt_visit visit, void *arg)
{
	struct walk walk = {.visit = visit, .arg = arg};
	int err = -ENOEXEC;

	elf_version(EV_CURRENT);
	walk.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(walk.elf) == ELF_K_ELF) {
		elf_segments_read(walk.elf, &walk.segments);
		err = visit_note_sections(&walk);
	}
	elf_end(walk.elf);
	return err;
}

/* --- Arguments: SIZE@OPERAND in the syntax of the assembler. --- */

/* Sets *offset to the offset of a register in pt_regs, and *length to the length of its name;
 * -ENOENT: not the name of a register. */
static int find_register_in_pt_regs(const char *text, u16 *offset, size_t *length)
{
	static const struct {
		const char *name;
		u16 offset;
	} registers[] = {USDT_REGISTERS};
	size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");

	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		if (strlen(registers[i].name) == name && !memcmp(registers[i].name, text, name)) {
			*offset = registers[i].offset;
			*length = name;
			return 0;
		}
	return -ENOENT;
}

static bool parse_number(const char *text, const char **end, s32 *number)
{
	char *stop;
	long long parsed;

	errno = 0;
	parsed = strtoll(text, &stop, 0);
	if (errno || stop == text || parsed < INT_MIN || parsed > INT_MAX)
		return false;
	*end = stop;
	*number = (s32)parsed;
	return true;
}

/* True where an operand may end. */
static bool is_operand_end(const char *text)
{
	return !*text || *text == ' ';
}

/* Parses a register operand: %rdi of x86-64, x0 of arm64. */
static bool parse_register(const char *text, struct event_number *out)
{
	size_t length;

	text += *text == '%';
	return !find_register_in_pt_regs(text, &out->offset, &length) &&
	       is_operand_end(text + length);
}

/* Parses a constant operand: $5 of x86-64, 5 of arm64. */
static bool parse_constant(const char *text, struct event_number *out)
{
	text += *text == '$';
	if (!parse_number(text, &text, &out->displacement[0]) || !is_operand_end(text))
		return false;
	out->place = NUMBER_CONSTANT;
	return true;
}

/* Parses a memory operand: 12(%rsp) of x86-64, [sp, 12] of arm64. */
static bool parse_memory(const char *text, struct event_number *out)
{
	bool is_bracketed = *text == '[';
	s32 displacement = 0;
	size_t length;

	if (!is_bracketed && *text != '(' && !parse_number(text, &text, &displacement))
		return false;
	if (*text != '[' && *text != '(')
		return false;
	text++;
	text += *text == '%';
	if (find_register_in_pt_regs(text, &out->offset, &length))
		return false;
	text += length;
	if (is_bracketed && *text == ',') {
		text++;
		text += *text == ' ';
		text += *text == '#';
		if (!parse_number(text, &text, &displacement))
			return false;
	}
	if (*text != (is_bracketed ? ']' : ')') || !is_operand_end(text + 1))
		return false;
	out->place = NUMBER_IN_USER_MEMORY;
	out->steps = 1;
	out->displacement[0] = displacement;
	return true;
}

int usdt_argument_find(const char *arguments, u32 number, struct event_number *out)
{
	struct event_number found = {};
	s32 bytes;

	arguments += strspn(arguments, " ");
	while (*arguments && --number) {
		/* The next argument begins after a blank; a blank inside of brackets belongs to the
		 * argument. */
		while (*arguments && *arguments != ' ')
			arguments += *arguments == '[' ? strcspn(arguments, "]") : 1;
		arguments += strspn(arguments, " ");
	}
	if (!*arguments)
		return -ENOENT;
	if (!parse_number(arguments, &arguments, &bytes) || *arguments != '@')
		return -EOPNOTSUPP;
	found.is_signed = bytes < 0;
	found.bytes = bytes < 0 ? -bytes : bytes;
	if (bytes < -8 || bytes > 8 || (found.bytes & (found.bytes - 1)) || !found.bytes)
		return -EOPNOTSUPP;
	arguments++;
	if (!parse_register(arguments, &found) && !parse_memory(arguments, &found) &&
	    !parse_constant(arguments, &found))
		return -EOPNOTSUPP;
	*out = found;
	return 0;
}
