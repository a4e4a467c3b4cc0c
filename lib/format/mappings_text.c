/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths are untrusted: each byte of an unprintable character is escaped. */
#include "mappings_text.h"

#include "format/printable.h"

static void put_build_id(const u8 *build_id, u32 bytes, FILE *to)
{
	for (u32 i = 0; i < bytes; i++)
		fprintf(to, "%02x", build_id[i]);
	if (!bytes)
		fputc('-', to);
}

static void put_path(const char *path, FILE *to)
{
	for (u32 bytes; *path; path += bytes) {
		bool plain = printable_next(path, &bytes) == PRINTABLE && *path != '\\';

		for (u32 i = 0; i < bytes; i++)
			fprintf(to, plain ? "%c" : "\\%03o", (u8)path[i]);
	}
}

void mappings_put_module(const struct trace_module *module, FILE *to)
{
	fputs("kernel ", to);
	put_path(module->name, to);
	fprintf(to, " 0x%llx-0x%llx ", (unsigned long long)module->start,
		(unsigned long long)module->end);
	put_build_id(module->build_id, module->build_id_bytes, to);
}

void mappings_put_mapping(const struct trace_mapping *mapping, FILE *to)
{
	fprintf(to, "%u ", mapping->number);
	put_build_id(mapping->build_id, mapping->build_id_bytes, to);
	fputc(' ', to);
	put_path(*mapping->path ? mapping->path : "[unknown]", to);
}
