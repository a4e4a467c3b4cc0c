/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbpf takes a path, so the file in memory is given by its link in /proc/self/fd. If a step
 * fails, libbpf gets no path and searches all types.
 */
#include "capture/feature/kernel_types.h"

#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/feature/kernel_btf.h"
#include "capture/feature/type_subset.h"

static Elf_Data *find_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		Elf64_Shdr *header = elf64_getshdr(section);
		const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* The types that an object names; NULL: no .BTF. */
static struct btf *types_of_object(const void *object, size_t bytes)
{
	struct btf *types = NULL;
	Elf_Data *data;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)object, bytes);
	data = find_section(elf, ".BTF");
	if (data)
		types = btf__new(data->d_buf, data->d_size);
	elf_end(elf);
	return types;
}

static void write_file(const void *bytes, size_t count, struct kernel_types *types)
{
	struct kernel_types written = {.file = memfd_create("kernel-types", MFD_CLOEXEC)};

	if (written.file < 0)
		return;
	snprintf(written.path, sizeof(written.path), "/proc/self/fd/%d", written.file);
	if (write(written.file, bytes, count) == (ssize_t)count && !access(written.path, R_OK))
		*types = written;
	else
		close(written.file);
}

void kernel_types_make(const void *object, size_t bytes, struct kernel_types *types)
{
	struct kernel_btf_bytes raw;
	struct btf *named;
	size_t subset_bytes;
	void *subset;

	*types = (struct kernel_types){};
	if (kernel_btf_open(&raw))
		return;
	named = types_of_object(object, bytes);
	if (named && !type_subset(raw.bytes, raw.count, named, &subset, &subset_bytes)) {
		write_file(subset, subset_bytes, types);
		free(subset);
	}
	btf__free(named);
	kernel_btf_close(&raw);
}

const char *kernel_types_path(const struct kernel_types *types)
{
	return types->path[0] ? types->path : NULL;
}

void kernel_types_clear(struct kernel_types *types)
{
	if (types->path[0])
		close(types->file);
	*types = (struct kernel_types){};
}
