/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a recording of an ELF file without running the file: record_elf ELF FILE. The stacks have
 * addresses all over the file's code, so naming them reads all symbols and debug information of the
 * code.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/file_identity.h"
#include "trace/write/writer.h"

#define DEPTH 16
#define STACKS 16

static const struct trace_info info = {
	.cpus = 1, .hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
static const struct trace_source source = {.name = "cpu-clock", .value_unit = ""};

struct code {
	u64 offset, bytes; /* range of the file */
};

static struct code find_code(Elf *elf)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    header.p_flags & PF_X)
			return (struct code){header.p_offset, header.p_filesz};
	return (struct code){0};
}

static int write_stacks(struct trace_writer *writer, const struct code *code)
{
	u64 frames[DEPTH], step = code->bytes / (DEPTH * STACKS) + 1;
	int err = 0;

	for (u32 i = 0; i < STACKS && !err; i++) {
		const struct trace_stack stack = {
			.flags = STACK_USER, .depth = DEPTH, .frames = frames};
		struct trace_event event = {
			.time = i, .tid = 1, .kernel = TRACE_NO_STACK, .kernel_reason = 1};

		for (u32 f = 0; f < DEPTH; f++)
			frames[f] = FRAME_USER(1, code->offset + step * (i * DEPTH + f));
		err = trace_writer_stack(writer, &stack, &event.user)
			      ?: trace_writer_event(writer, &event);
	}
	return err;
}

static int write_recording(Elf *elf, const char *path, const char *file)
{
	struct trace_mapping mapping = {.number = 1, .kind = MAPPING_FILE, .path = path};
	const struct code code = find_code(elf);
	struct trace_writer *writer;
	int err = trace_writer_create(file, &info, &writer, NULL);

	mapping.build_id_bytes = (u32)build_id_from_elf(elf, mapping.build_id);
	err = err ?: trace_writer_source(writer, &source) ?: trace_writer_mapping(writer, &mapping);
	err = err ?: write_stacks(writer, &code);
	return err ?: trace_writer_close(&writer);
}

int main(int argc, char **argv)
{
	char *path = argc == 3 ? realpath(argv[1], NULL) : NULL;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || write_recording(elf, path, argv[2])) {
		fprintf(stderr, "usage: record_elf ELF FILE\n");
		return 1;
	}
	elf_end(elf);
	free(path);
	return 0;
}
