/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes seeds for the fuzzer of lib/user_unwind: the mapped file is the vdso of this process, pcs
 * are spread over it, and the stack has return addresses into it. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "fuzz_user_unwind.h"

#define SEEDS 16
#define CODE 0x7f0000000000ULL
#define STACK 0x7fff00000000ULL
#define STACK_WORDS 64U

static u64 image_bytes(const u8 *image)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Phdr *segments = (const void *)(image + header->e_phoff);
	u64 bytes = 0;

	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD)
			bytes = segments[i].p_offset + segments[i].p_filesz;
	return bytes;
}

static void write_seed(const char *folder, u32 number, const u8 *image, u64 bytes)
{
	struct fuzz_user_unwind_input input = {
		.stack_bytes = STACK_WORDS * sizeof(u64),
		.mapping_count = 3,
		.flags = number % 8,
		.stack_start = STACK,
		.mapping[0] = {.start = CODE, .end = CODE + bytes, .number = 4 + number % 2},
		.mapping[1] = {.start = CODE + bytes, .end = CODE + bytes + 4096, .number = 2},
	};
	u64 stack[STACK_WORDS];
	char path[4096];
	FILE *file;

	for (u32 i = 0; i < REGISTER_COUNT; i++)
		input.value[i] = STACK + 8 * i;
	input.value[REGISTER_PC] = CODE + bytes / SEEDS * number;
	for (u32 i = 0; i < STACK_WORDS; i++)
		stack[i] = i % 3 ? CODE + bytes / STACK_WORDS * i : STACK + 8 * (i + 4);
	snprintf(path, sizeof(path), "%s/%u", folder, number);
	file = fopen(path, "w");
	if (!file)
		exit(1);
	fwrite(&input, sizeof(input), 1, file);
	fwrite(stack, sizeof(stack), 1, file);
	fwrite(image, bytes, 1, file);
	fclose(file);
}

int main(int argc, char **argv)
{
	const u8 *image = (const u8 *)getauxval(AT_SYSINFO_EHDR);

	if (argc != 2)
		return 2;
	for (u32 number = 0; image && number < SEEDS; number++)
		write_seed(argv[1], number, image, image_bytes(image));
	return 0;
}
