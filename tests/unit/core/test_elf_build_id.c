/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for a build id in 32-bit and 64-bit images, as linkers make them and as an attacker
 * would forge them: the search reads no byte outside of the mapping, whatever the image says. The
 * tests lay the images out by the system's <elf.h>, which the search does not use.
 */
#include "elf_build_id.h"

#include "unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE 0x7f1234567000ULL
#define PAGE 4096U
#define MAPPED (4 * PAGE)
#define NOTES (2 * PAGE) /* where notes are */
#define SEGMENTS 4
#define ID_BYTES 20U
#define DAMAGED_IMAGES 200000

static const u8 id[4096] = {0x3a, 0x81, 0xfe, 0x00, 0x17, 0x2b, 0xc4, 0x90, 0x55, 0x6d, 0xe8,
			    0x0f, 0x71, 0xa2, 0x39, 0xdd, 0x46, 0x18, 0x0b, 0x9c, 0x77};

/* A test that runs with a 32-bit image and with a 64-bit one. */
#define TEST_OF_BOTH_CLASSES(name)                                                                 \
	static void name(u8 class);                                                                \
	TEST(name##_in_32_bits)                                                                    \
	{                                                                                          \
		name(ELFCLASS32);                                                                  \
	}                                                                                          \
	TEST(name##_in_64_bits)                                                                    \
	{                                                                                          \
		name(ELFCLASS64);                                                                  \
	}                                                                                          \
	static void name(u8 class)

static u8 image[MAPPED];
static u32 hole, hole_bytes; /* bytes of the image that cannot be read now */
static struct elf_build_id search;

bool elf_read(u64 address, void *buffer, u32 bytes)
{
	u64 at = address - IMAGE;

	assert_true(at <= search.bytes && bytes <= search.bytes - at);
	if (at < hole + hole_bytes && hole < at + bytes)
		return false;
	memcpy(buffer, image + at, bytes);
	return true;
}

static bool is_64(void)
{
	return image[EI_CLASS] == ELFCLASS64;
}

/* An image whose program headers are all zero. */
static void set_header(u8 class, u16 segments)
{
	const Elf64_Ehdr header_64 = {
		.e_phoff = sizeof(header_64), .e_shoff = MAPPED, .e_phnum = segments};
	const Elf32_Ehdr header_32 = {
		.e_phoff = sizeof(header_32), .e_shoff = MAPPED, .e_phnum = segments};

	memset(image, 0, sizeof(image));
	hole_bytes = 0;
	if (class == ELFCLASS64)
		memcpy(image, &header_64, sizeof(header_64));
	else
		memcpy(image, &header_32, sizeof(header_32));
	memcpy(image, ELFMAG, SELFMAG);
	image[EI_CLASS] = class;
}

static void set_segment(u32 i, u32 type, u64 offset, u64 bytes)
{
	const Elf64_Phdr segment_64 = {.p_type = type,
				       .p_offset = offset,
				       .p_vaddr = PAGE,
				       .p_filesz = bytes,
				       .p_memsz = PAGE};
	const Elf32_Phdr segment_32 = {.p_type = type,
				       .p_offset = offset,
				       .p_vaddr = PAGE,
				       .p_filesz = bytes,
				       .p_memsz = PAGE};

	if (is_64())
		memcpy(image + sizeof(Elf64_Ehdr) + i * sizeof(segment_64), &segment_64,
		       sizeof(segment_64));
	else
		memcpy(image + sizeof(Elf32_Ehdr) + i * sizeof(segment_32), &segment_32,
		       sizeof(segment_32));
}

/* Returns the offset of the next note. */
static u32 set_note(u32 at, u32 type, const char *name, u32 name_bytes, u32 bytes)
{
	const Elf64_Nhdr head = {.n_namesz = name_bytes, .n_descsz = bytes, .n_type = type};
	u32 name_at = at + sizeof(head), id_at = name_at + (name_bytes + 3) / 4 * 4;

	memcpy(image + at, &head, sizeof(head));
	memcpy(image + name_at, name, strlen(name));
	if (bytes <= sizeof(id) && id_at + bytes <= MAPPED)
		memcpy(image + id_at, id, bytes);
	return id_at + (bytes + 3) / 4 * 4;
}

static u32 set_id(u32 at, u32 bytes)
{
	return set_note(at, NT_GNU_BUILD_ID, "GNU", 4, bytes);
}

/* Makes an image as a linker does, with an id of 20 bytes. Returns the offset of its end. */
static u32 make_usual_elf_image(u8 class)
{
	set_header(class, SEGMENTS);
	set_segment(0, PT_LOAD, 0, MAPPED);
	set_segment(2, PT_NOTE, NOTES, sizeof(Elf64_Nhdr) + 4 + ID_BYTES);
	return set_id(NOTES, ID_BYTES);
}

static int find_in(u64 bytes)
{
	search = (struct elf_build_id){.image = IMAGE, .bytes = bytes};
	return elf_build_id_find(&search);
}

static void assert_found(u32 bytes)
{
	assert_int_equal(find_in(MAPPED), bytes);
	assert_int_equal(search.id_bytes, bytes);
	assert_memory_equal(search.id, id, bytes);
}

static void assert_not_found(void)
{
	assert_int_equal(find_in(MAPPED), 0);
	assert_int_equal(search.id_bytes, 0);
}

TEST_OF_BOTH_CLASSES(an_id_is_found)
{
	make_usual_elf_image(class);
	assert_found(ID_BYTES);
}

TEST_OF_BOTH_CLASSES(an_id_after_notes_of_all_lengths_is_found)
{
	u32 name_bytes, bytes, at;

	for (name_bytes = 0; name_bytes < 9; name_bytes++)
		for (bytes = 0; bytes < 9; bytes++) {
			set_header(class, SEGMENTS);
			at = set_note(NOTES, NT_GNU_BUILD_ID, "", name_bytes, bytes);
			at = set_note(at, NT_GNU_ABI_TAG, "GNU", 4, 16);
			at = set_id(at, ID_BYTES);
			set_segment(2, PT_NOTE, NOTES, at - NOTES);
			assert_found(ID_BYTES);
		}
}

TEST_OF_BOTH_CLASSES(an_id_after_a_segment_of_other_notes_is_found)
{
	u32 at;

	make_usual_elf_image(class);
	at = set_note(PAGE, NT_GNU_PROPERTY_TYPE_0, "GNU", 4, 32);
	set_segment(1, PT_NOTE, PAGE, at - PAGE);
	assert_found(ID_BYTES);
}

TEST_OF_BOTH_CLASSES(a_note_of_another_owner_or_type_is_not_an_id)
{
	make_usual_elf_image(class);
	set_note(NOTES, NT_GNU_BUILD_ID, "Go", 4, ID_BYTES);
	assert_not_found();
	set_note(NOTES, NT_GNU_BUILD_ID, "GNU", 5, ID_BYTES);
	assert_not_found();
	set_note(NOTES, NT_GNU_HWCAP, "GNU", 4, ID_BYTES);
	assert_not_found();
}

TEST_OF_BOTH_CLASSES(ids_of_1_to_20_bytes_are_found_and_others_refused)
{
	const u32 refused[] = {0, MAPPING_BUILD_ID_MAX + 1, 64, 4096, 4097, 1U << 31, UINT32_MAX};
	u32 bytes, i;

	for (bytes = 1; bytes <= MAPPING_BUILD_ID_MAX; bytes++) {
		make_usual_elf_image(class);
		set_id(NOTES, bytes);
		assert_found(bytes);
	}
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		make_usual_elf_image(class);
		set_segment(2, PT_NOTE, NOTES, UINT32_MAX);
		set_id(NOTES, refused[i]);
		assert_not_found();
	}
}

TEST_OF_BOTH_CLASSES(an_image_without_elf_header_has_no_id)
{
	make_usual_elf_image(class);
	image[EI_MAG0] ^= 1;
	assert_not_found();
	make_usual_elf_image(class);
	image[EI_CLASS] = ELFCLASSNONE;
	assert_not_found();
	image[EI_CLASS] = ELFCLASSNUM;
	assert_not_found();
	set_header(class, 0);
	assert_not_found();
	set_header(class, SEGMENTS);
	assert_not_found();
}

/* Bytes behind the end of the mapping never become readable: the answer is 0 instead of -EAGAIN. */
TEST_OF_BOTH_CLASSES(an_id_after_the_end_of_the_mapping_is_not_read)
{
	u32 end = make_usual_elf_image(class), bytes;

	for (bytes = 0; bytes < end; bytes++)
		assert_int_equal(find_in(bytes), 0);
	assert_int_equal(find_in(end), ID_BYTES);
}

TEST_OF_BOTH_CLASSES(a_segment_that_ends_before_its_id_has_no_id)
{
	u32 end = make_usual_elf_image(class), bytes;

	for (bytes = 0; bytes < end - NOTES; bytes++) {
		set_segment(2, PT_NOTE, NOTES, bytes);
		assert_not_found();
	}
}

/* The page behind the notes may stay absent for ever, so a read of it would ask for it for ever. */
TEST_OF_BOTH_CLASSES(bytes_after_the_note_segment_are_not_read)
{
	u32 at = 3 * PAGE - sizeof(Elf64_Nhdr) - 4 - 16;

	make_usual_elf_image(class);
	set_segment(2, PT_NOTE, at, 3 * PAGE - at);
	at = set_note(at, NT_GNU_ABI_TAG, "GNU", 4, 16);
	assert_int_equal(at, 3 * PAGE);
	set_id(at, ID_BYTES);
	assert_not_found();
	hole = at, hole_bytes = PAGE;
	assert_not_found();
}

/* The id lies across the end of a page. */
TEST_OF_BOTH_CLASSES(an_id_on_an_absent_page_is_asked_for_again)
{
	const u32 at = 3 * PAGE - sizeof(Elf64_Nhdr) - 4 - ID_BYTES / 2;
	u32 page;

	make_usual_elf_image(class);
	set_segment(2, PT_NOTE, at, sizeof(Elf64_Nhdr) + 4 + ID_BYTES);
	set_id(at, ID_BYTES);
	for (page = 0; page < MAPPED / PAGE; page++) {
		hole = page * PAGE, hole_bytes = PAGE;
		assert_int_equal(find_in(MAPPED), page == 1 ? (int)ID_BYTES : -EAGAIN);
		assert_int_equal(search.id_bytes, page == 1 ? ID_BYTES : 0);
	}
}

/* The absent note may be the id, so a later note is not taken for it. */
TEST_OF_BOTH_CLASSES(an_absent_note_before_the_id_is_asked_for_again)
{
	u32 at;

	make_usual_elf_image(class);
	set_segment(0, PT_NOTE, PAGE, 64);
	assert_found(ID_BYTES);
	hole = PAGE, hole_bytes = 1;
	assert_int_equal(find_in(MAPPED), -EAGAIN);
	at = set_note(NOTES, NT_GNU_ABI_TAG, "GNU", 4, 16);
	set_segment(0, PT_LOAD, 0, MAPPED);
	set_segment(2, PT_NOTE, NOTES, set_id(at, ID_BYTES) - NOTES);
	hole = NOTES;
	assert_int_equal(find_in(MAPPED), -EAGAIN);
}

TEST_OF_BOTH_CLASSES(at_most_16_notes_and_64_segments_are_searched)
{
	const u32 notes_max = 16, segments_max = 64;
	u32 i, at;

	for (i = 0; i <= notes_max; i++) {
		u32 before;

		make_usual_elf_image(class);
		for (at = NOTES, before = 0; before < i; before++)
			at = set_note(at, NT_GNU_ABI_TAG, "GNU", 4, 16);
		set_segment(2, PT_NOTE, NOTES, set_id(at, ID_BYTES) - NOTES);
		assert_int_equal(find_in(MAPPED), i < notes_max ? ID_BYTES : 0);
	}
	set_header(class, 2);
	set_segment(2, PT_NOTE, NOTES, set_id(NOTES, ID_BYTES) - NOTES);
	assert_not_found();
	for (i = segments_max - 1; i <= segments_max; i++) {
		set_header(class, i + 1);
		set_segment(i, PT_NOTE, NOTES, set_id(NOTES, ID_BYTES) - NOTES);
		assert_int_equal(find_in(MAPPED), i < segments_max ? ID_BYTES : 0);
	}
}

TEST_OF_BOTH_CLASSES(forged_offsets_and_sizes_are_not_followed)
{
	const u64 places[] = {MAPPED - 1,	MAPPED,		 MAPPED + 1,	 INT32_MAX,
			      UINT32_MAX - 15,	UINT32_MAX,	 1ULL << 32,	 INT64_MAX,
			      UINT64_MAX - 127, UINT64_MAX - 15, UINT64_MAX - 3, UINT64_MAX};
	u32 i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		make_usual_elf_image(class);
		set_segment(2, PT_NOTE, places[i], sizeof(Elf64_Nhdr) + 4 + ID_BYTES);
		find_in(MAPPED);
		assert_true(search.id_bytes == 0);
		set_segment(2, PT_NOTE, NOTES, places[i]);
		find_in(MAPPED);
		set_segment(2, PT_NOTE, places[i], UINT64_MAX - places[i] + 1 + NOTES);
		find_in(MAPPED);
		make_usual_elf_image(class);
		memcpy(image + (class == ELFCLASS64 ? offsetof(Elf64_Ehdr, e_phoff)
						    : offsetof(Elf32_Ehdr, e_phoff)),
		       &places[i], class == ELFCLASS64 ? 8 : 4);
		find_in(MAPPED);
		assert_int_equal(search.id_bytes, 0);
	}
}

TEST_OF_BOTH_CLASSES(notes_longer_than_4096_bytes_are_damage)
{
	const u32 max = 4096;
	u32 more;

	for (more = 0; more < 2; more++) {
		set_header(class, SEGMENTS);
		set_segment(2, PT_NOTE, PAGE, 3 * PAGE);
		set_id(set_note(PAGE, NT_GNU_ABI_TAG, "GNU", max + more, 0), ID_BYTES);
		assert_int_equal(find_in(MAPPED), more ? 0 : ID_BYTES);
		set_header(class, SEGMENTS);
		set_segment(2, PT_NOTE, PAGE, 3 * PAGE);
		set_id(set_note(PAGE, NT_GNU_ABI_TAG, "GNU", 4, max + more), ID_BYTES);
		assert_int_equal(find_in(MAPPED), more ? 0 : ID_BYTES);
	}
}

TEST_OF_BOTH_CLASSES(forged_lengths_of_notes_are_not_followed)
{
	const u32 lengths[] = {4097, MAPPED, INT32_MAX, 1U << 31, UINT32_MAX - 11, UINT32_MAX};
	u32 i;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		make_usual_elf_image(class);
		set_segment(2, PT_NOTE, NOTES, UINT32_MAX);
		set_note(NOTES, NT_GNU_ABI_TAG, "GNU", lengths[i], 0);
		assert_not_found();
		set_note(NOTES, NT_GNU_ABI_TAG, "GNU", 4, lengths[i]);
		assert_not_found();
	}
}

/* elf_read() of this file fails the test when a byte outside of the mapping is read. */
TEST_OF_BOTH_CLASSES(damaged_images_give_an_id_or_none)
{
	unsigned int seed = 1;
	u32 i, damage;

	for (i = 0; i < DAMAGED_IMAGES; i++) {
		u32 end = make_usual_elf_image(class);
		int found;

		for (damage = rand_r(&seed) % 4; damage < 4; damage++) {
			u32 head = rand_r(&seed) % 256,
			    note = NOTES + rand_r(&seed) % (end - NOTES);

			image[rand_r(&seed) % 2 ? head : note] = rand_r(&seed);
		}
		found = find_in(rand_r(&seed) % 2 ? MAPPED : rand_r(&seed) % MAPPED);
		assert_true(found >= 0 && found <= MAPPING_BUILD_ID_MAX);
		assert_int_equal(found, search.id_bytes);
	}
}
