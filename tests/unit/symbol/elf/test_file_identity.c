/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes in the form of /sys: behind others, absent, cut off, with false sizes. Notes of a file: in
 * sections and segments, up to the limits of the reader. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/file_identity.h"
#include "trace/event.h"
#include "unit_test.h"

static const u8 id[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static size_t put(u8 *at, u32 type, const char *name, u32 name_bytes, u32 bytes)
{
	Elf64_Nhdr note = {.n_namesz = name_bytes, .n_descsz = bytes, .n_type = type};
	size_t padded = (name_bytes + 3) & ~3U;

	memcpy(at, &note, sizeof(note));
	memset(at + sizeof(note), 0, padded);
	memcpy(at + sizeof(note), name, name_bytes);
	memcpy(at + sizeof(note) + padded, id, sizeof(id));
	return sizeof(note) + padded + sizeof(id);
}

TEST(an_id_after_other_notes_is_found)
{
	u8 notes[256], found[TRACE_BUILD_ID_MAX];
	size_t bytes = put(notes, 6, "Linux", 6, 8);

	bytes += put(notes + bytes, NT_GNU_BUILD_ID, "Xen", 4, 8);
	bytes += put(notes + bytes, NT_GNU_BUILD_ID, "GNU", 4, 8);
	assert_int_equal(build_id_from_notes(notes, bytes, found), 8);
	assert_memory_equal(found, id, 8);
}

TEST(absent_or_too_long_notes_give_no_id)
{
	u8 notes[256], found[TRACE_BUILD_ID_MAX];
	size_t bytes = put(notes, 1, "GNU", 4, 8);

	assert_int_equal(build_id_from_notes(notes, bytes, found), 0);
	assert_int_equal(build_id_from_notes(notes, 0, found), 0);
	put(notes, NT_GNU_BUILD_ID, "GNU", 4, TRACE_BUILD_ID_MAX + 1);
	assert_int_equal(build_id_from_notes(notes, sizeof(notes), found), 0);
}

TEST(cut_notes_and_false_sizes_give_no_id)
{
	static const u32 sizes[] = {0x7fffffff, 0xffffffff, 0xfffffffd, 9};
	u8 found[TRACE_BUILD_ID_MAX], whole[64];
	size_t bytes = put(whole, NT_GNU_BUILD_ID, "GNU", 4, 8);

	for (size_t cut = 1; cut < bytes; cut++) {
		u8 *notes = malloc(cut);

		memcpy(notes, whole, cut);
		assert_int_equal(build_id_from_notes(notes, cut, found), 0);
		free(notes);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memcpy(whole + 4, &sizes[i], 4);
		assert_int_equal(build_id_from_notes(whole, bytes, found), 0);
	}
}

/* An ELF file whose last segment of notes has the id. */
static int id_of_file(u16 segments, size_t bytes_before)
{
	size_t notes_at = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
	size_t id_at = notes_at + bytes_before, bytes = id_at + 64;
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_version = EV_CURRENT,
			     .e_machine = EM_X86_64,
			     .e_ehsize = sizeof(header),
			     .e_phoff = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = segments};
	char *image = calloc(1, bytes);
	Elf64_Phdr *headers = (void *)(image + sizeof(header));
	u8 found[TRACE_BUILD_ID_MAX];
	Elf *elf;
	int id_bytes;

	memcpy(image, &header, sizeof(header));
	for (u16 i = 0; i < segments; i++)
		headers[i] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = notes_at, .p_filesz = bytes_before};
	headers[segments - 1].p_filesz += put((u8 *)image + id_at, NT_GNU_BUILD_ID, "GNU", 4, 8);
	elf_version(EV_CURRENT);
	elf = elf_memory(image, bytes);
	id_bytes = build_id_from_elf(elf, found);
	elf_end(elf);
	free(image);
	return id_bytes;
}

TEST(notes_of_a_file_are_read_up_to_a_bound)
{
	assert_int_equal(id_of_file(1, 0), 8);
	assert_int_equal(id_of_file(32, 12), 8);
	assert_int_equal(id_of_file(33, 12), 0);
	assert_int_equal(id_of_file(1, 12 * 5000), 8);
	assert_int_equal(id_of_file(1, 12 * 6000), 0);
}
