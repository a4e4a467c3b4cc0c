/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both kinds of file give one symbol table. The table of an ELF file is by file offset: the
 * distance by which KASLR moved the kernel is subtracted from an address, and the segment of the
 * result gives the offset.
 */
#include "kernel_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "kallsyms.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/file/whole_file.h"

struct kernel_names {
	struct symbol_table *table;
	u64 stext; /* run time address of the symbol _stext */
	bool is_elf;
	struct elf_segments segments;
	u64 moved; /* run time address - link time address, modulo 2^64 */
};

static int create_names(struct kernel_names **out)
{
	struct kernel_names *names = calloc(1, sizeof(*names));
	int err = names ? symbol_table_create(&names->table) : -ENOMEM;

	if (err)
		free(names);
	else
		*out = names;
	return err;
}

void kernel_names_free(struct kernel_names **names)
{
	if (!*names)
		return;
	symbol_table_free(&(*names)->table);
	free(*names);
	*names = NULL;
}

static int read_kallsyms_file(const char *path, struct kernel_names *names)
{
	static const struct module_list none = {0};
	struct symbol first;
	size_t bytes;
	char *text;
	int err = whole_file_read(path, &text, &bytes);

	if (err)
		return err;
	err = kallsyms_parse(text, bytes, &none, names->table);
	names->stext = kallsyms_address(text, bytes, "_stext");
	free(text);
	if (!err && !symbol_table_at_index(names->table, 0, &first))
		err = -EBADMSG;
	return err;
}

int kernel_names_from_kallsyms(const char *path, struct kernel_names **out,
			       struct stackmap_error *error)
{
	struct kernel_names *names;
	int err = create_names(&names);

	if (err)
		return error_set_errno(error, -err, path);
	err = read_kallsyms_file(path, names);
	if (!err) {
		*out = names;
		return 0;
	}
	kernel_names_free(&names);
	if (err == -EBADMSG)
		return error_set(error, EBADMSG, "%s: no kernel addresses in this file", path);
	return error_set_errno(error, -err, path);
}

static int read_elf_symbols(Elf *elf, u64 stext, struct kernel_names *names)
{
	int err = elf_symbols_add(elf, names->table);
	u64 linked;

	if (err)
		return err;
	if (!elf_symbol_address(elf, "_stext", &linked))
		return -EBADMSG;
	names->is_elf = true;
	names->moved = stext ? stext - linked : 0;
	names->stext = linked + names->moved;
	elf_segments_read(elf, &names->segments);
	return 0;
}

static int read_vmlinux(const char *path, u64 stext, struct kernel_names *names)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = -ENOEXEC;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		err = read_elf_symbols(elf, stext, names);
	elf_end(elf);
	close(fd);
	return err;
}

static int set_vmlinux_error(const char *path, int err, struct stackmap_error *error)
{
	switch (err) {
	case -ENOEXEC:
		return error_set(error, ENOEXEC,
				 "%s: not an ELF file; a bzImage must be unpacked first", path);
	case -EBADMSG:
		return error_set(error, EBADMSG,
				 "%s: no symbol _stext, so not a kernel with symbols", path);
	default:
		return error_set_errno(error, -err, path);
	}
}

int kernel_names_from_vmlinux(const char *path, u64 stext, struct kernel_names **out,
			      struct stackmap_error *error)
{
	struct kernel_names *names;
	int err = create_names(&names);

	if (err)
		return set_vmlinux_error(path, err, error);
	err = read_vmlinux(path, stext, names);
	if (err) {
		kernel_names_free(&names);
		return set_vmlinux_error(path, err, error);
	}
	*out = names;
	return 0;
}

u64 kernel_names_stext(const struct kernel_names *names)
{
	return names->stext;
}

bool kernel_names_find(const struct kernel_names *names, u64 return_address, struct symbol *symbol)
{
	u64 address = return_address - 1;

	if (names->is_elf) {
		u64 linked = address - names->moved;
		const struct elf_segment *segment =
			elf_segment_of_address(&names->segments, linked);
		u64 offset;

		if (!segment)
			return false;
		offset = linked - segment->address + segment->offset;
		if (!symbol_table_find(names->table, offset, symbol))
			return false;
		symbol->start = address - (offset - symbol->start);
		return true;
	}
	return symbol_table_find(names->table, address, symbol);
}
