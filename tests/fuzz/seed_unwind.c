/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes seeds for the unwinder's fuzzer: the vdso of this process, which is a small complete ELF
 * image with an index, with pcs spread over it; its .eh_frame and .eh_frame_hdr alone; SFrame
 * sections of each version; expressions that toolchains emit.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "fuzz_unwind.h"
#include "sframe_section.h"

#define PCS_PER_IMAGE 24

static const char *folder;

static void write_seed(const char *name, int number, const struct fuzz_input *header,
		       const void *memory, size_t bytes)
{
	static const u8 stack[512];
	struct fuzz_input input = *header;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s_%d", folder, name, number);
	file = fopen(path, "w");
	if (!file)
		exit(1);
	input.rsp = (bytes + 7) & ~7U;
	input.rbp = input.rsp + 64;
	fwrite(&input, sizeof(input), 1, file);
	fwrite(memory, bytes, 1, file);
	fwrite(stack, input.rsp - bytes + sizeof(stack), 1, file);
	fclose(file);
}

static void seed_vdso(void)
{
	const u8 *image = (const u8 *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Phdr *segments = (const void *)(image + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];

		if (segment->p_type == PT_LOAD)
			for (u32 pc = 0; pc < PCS_PER_IMAGE; pc++)
				write_seed("vdso", pc,
					   &(struct fuzz_input){.part = FUZZ_STACK,
								.pc = segment->p_filesz /
								      PCS_PER_IMAGE * pc},
					   image, segment->p_filesz);
		if (segment->p_type == PT_GNU_EH_FRAME)
			write_seed("hdr", 0, &(struct fuzz_input){.part = FUZZ_EH_FRAME_HDR},
				   image + segment->p_vaddr, 2048);
		if (segment->p_type == PT_GNU_EH_FRAME)
			write_seed("records", 0, &(struct fuzz_input){.part = FUZZ_EH_FRAME},
				   image + segment->p_vaddr, 2048);
	}
}

static void seed_expressions(void)
{
	static const u8 plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	static const u8 deref[] = {0x77, 0xa0, 1, 0x06, 0x23, 8};
	static const u8 indexed[] = {0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8};
	static const u8 constants[] = {0x08, 1,	   0x0a, 1,    0, 0x22, 0x92,
				       6,    0x7c, 0x22, 0x10, 5, 0x1c};

	write_seed("expression", 0, &(struct fuzz_input){.part = FUZZ_EXPRESSION}, plt,
		   sizeof(plt));
	write_seed("expression", 1, &(struct fuzz_input){.part = FUZZ_EXPRESSION}, deref,
		   sizeof(deref));
	write_seed("expression", 2, &(struct fuzz_input){.part = FUZZ_EXPRESSION}, indexed,
		   sizeof(indexed));
	write_seed("expression", 3, &(struct fuzz_input){.part = FUZZ_EXPRESSION}, constants,
		   sizeof(constants));
}

static void seed_sframe(void)
{
	for (int version = 1; version <= 3; version++) {
		struct sframe_section section;

		sframe_section_make(&section, version, 0x100);
		write_seed("sframe", version,
			   &(struct fuzz_input){.part = FUZZ_SFRAME, .pc = 0x105}, section.byte,
			   section.bytes);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	folder = argv[1];
	seed_vdso();
	seed_expressions();
	seed_sframe();
	return 0;
}
