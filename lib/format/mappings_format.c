/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the text that mappings_reader.h describes. */
#include "format.h"

static void put_build_id(const u8 *build_id, u32 bytes, FILE *to)
{
	for (u32 i = 0; i < bytes; i++)
		fprintf(to, "%02x", build_id[i]);
	if (!bytes)
		fputc('-', to);
}

static void put_path(const char *path, FILE *to)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < ' ' || c == 0x7f || c == '\\')
			fprintf(to, "\\%03o", c);
		else
			fputc(c, to);
	}
}

static void put_module(const struct trace_module *module, FILE *to)
{
	fputs("kernel ", to);
	put_path(module->name, to);
	fprintf(to, " 0x%llx-0x%llx ", (unsigned long long)module->start,
		(unsigned long long)module->end);
	put_build_id(module->build_id, module->build_id_bytes, to);
	fputc('\n', to);
}

static void put_mapping(const struct trace_mapping *mapping, FILE *to)
{
	fprintf(to, "%u ", mapping->number);
	put_build_id(mapping->build_id, mapping->build_id_bytes, to);
	fputc(' ', to);
	put_path(mapping->path, to);
	fputc('\n', to);
}

static int mappings_write(struct trace_reader *reader, const struct format_options *options,
			  FILE *to, struct stackmap_error *error)
{
	const struct trace_module *modules;
	const struct trace_mapping *mappings;
	u32 module_count = trace_reader_modules(reader, &modules);
	u32 mapping_count = trace_reader_mappings(reader, &mappings);

	(void)options;
	(void)error;
	for (u32 i = 0; i < module_count; i++)
		put_module(&modules[i], to);
	for (u32 i = 0; i < mapping_count; i++)
		put_mapping(&mappings[i], to);
	return 0;
}

const struct format mappings_format = {
	.name = "mappings",
	.meaning = "what the frames of stack_map_bin refer to: files, build ids, load addresses",
	.write = mappings_write,
};
