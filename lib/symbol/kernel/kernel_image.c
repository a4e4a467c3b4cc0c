/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own range is _stext .. _etext: its init code lies behind and is freed after boot, so
 * no frame can be in it. _etext is among the last of 100,000 symbols, and /proc/kallsyms is slow to
 * read; /proc/iomem has the length of the same range, and shows it to root. A BPF program belongs
 * to no module; its name is in kallsyms.
 */
#include "kernel_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "kallsyms.h"
#include "symbol/elf/build_id.h"
#include "symbol/file/whole_file.h"

#define FIRST_BYTES (64 << 10)

static void read_build_id(const char *path, struct trace_module *module)
{
	char *notes;
	size_t bytes;

	if (whole_file_read(path, &notes, &bytes))
		return;
	module->build_id_bytes = build_id_from_notes(notes, bytes, module->build_id);
	free(notes);
}

/* The first symbols, whole lines: their bytes. The kernel gives a page at a time. */
static size_t read_first(int kallsyms, char *text)
{
	size_t bytes = 0;
	ssize_t got = 1;

	while (got > 0 && bytes < FIRST_BYTES) {
		got = pread(kallsyms, text + bytes, FIRST_BYTES - bytes, bytes);
		bytes += got > 0 ? got : 0;
	}
	while (bytes && text[bytes - 1] != '\n')
		bytes--;
	return bytes;
}

/* _stext is among them. */
static void read_start(int kallsyms, struct trace_module *kernel)
{
	char *text = malloc(FIRST_BYTES);

	if (text)
		kernel->start = kallsyms_address(text, read_first(kallsyms, text), "_stext");
	free(text);
}

/* "  01000000-02209987 : Kernel code"; 0 where the addresses are hidden. */
static u64 code_bytes(int iomem)
{
	unsigned long long first, last;
	char *text, *line;
	size_t bytes;
	u64 found = 0;

	if (whole_file_read_open(iomem, &text, &bytes))
		return 0;
	line = strstr(text, " : Kernel code\n");
	while (line && line > text && line[-1] != '\n')
		line--;
	if (line && sscanf(line, " %llx-%llx", &first, &last) == 2 && last > first)
		found = last + 1 - first;
	free(text);
	return found;
}

/* All that the first symbols and iomem did not tell. */
static int search(int kallsyms, struct trace_module *kernel)
{
	char *text;
	size_t bytes;
	int err = whole_file_read_open(kallsyms, &text, &bytes);

	if (err)
		return err;
	kernel->start = kallsyms_address(text, bytes, "_stext");
	kernel->end = kallsyms_address(text, bytes, "_etext");
	free(text);
	return 0;
}

bool kernel_image_shown(const struct kernel_files *files)
{
	struct trace_module kernel = {};

	if (files->kallsyms >= 0)
		read_start(files->kallsyms, &kernel);
	return kernel.start;
}

/* Where the addresses are hidden nothing is searched for. */
static int read_kernel(const struct kernel_files *files, struct trace_module *kernel)
{
	u64 bytes;

	*kernel = (struct trace_module){.name = "vmlinux"};
	read_build_id("/sys/kernel/notes", kernel);
	if (files->kallsyms < 0)
		return 0;
	read_start(files->kallsyms, kernel);
	if (!kernel->start)
		return 0;
	bytes = code_bytes(files->iomem);
	if (!bytes)
		return search(files->kallsyms, kernel);
	kernel->end = kernel->start + bytes;
	return 0;
}

static void read_module(const struct module *loaded, struct trace_module *module)
{
	char path[MODULE_NAME_BYTES + 64];

	*module = (struct trace_module){
		.name = loaded->name,
		.start = loaded->start,
		.end = loaded->end,
	};
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", loaded->name);
	read_build_id(path, module);
}

int kernel_image_modules(const struct kernel_files *files,
			 int (*each)(void *arg, const struct trace_module *module), void *arg,
			 struct stackmap_error *error)
{
	struct module_list list;
	struct trace_module module;
	int err = read_kernel(files, &module);

	if (err)
		return error_set(error, -err, "/proc/kallsyms: %s", strerror(-err));
	err = module_list_read_open(files->modules, &list);
	if (err)
		return error_set(error, -err, "/proc/modules: %s", strerror(-err));
	err = each(arg, &module);
	for (u32 i = 0; i < list.count && !err; i++) {
		read_module(&list.modules[i], &module);
		err = each(arg, &module);
	}
	module_list_clear(&list);
	return err;
}
