/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The range of the image is _stext .. _etext: init code follows and is freed after boot, so
 * frames are not in it. _etext is among the last of 100,000 symbols, and /proc/kallsyms is slow to
 * read; /proc/iomem has the length of the same range, and shows it to root. BPF programs belong to
 * no module; their names are in kallsyms.
 */
#include "kernel_image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "kallsyms.h"
#include "symbol/elf/file_identity.h"
#include "symbol/file/whole_file.h"

void kernel_files_open(struct kernel_files *files)
{
	*files = (struct kernel_files){
		.kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC),
		.modules = open("/proc/modules", O_RDONLY | O_CLOEXEC),
		.iomem = open("/proc/iomem", O_RDONLY | O_CLOEXEC),
	};
}

static void close_file(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void kernel_files_close(struct kernel_files *files)
{
	close_file(&files->kallsyms);
	close_file(&files->modules);
	close_file(&files->iomem);
}

/* kallsyms is read up to the first symbol of a BPF program. These symbols come last, and the kernel
 * walks its list of programs from the start for each of them, so the symbols of a thousand programs
 * take longer than all others. */
#define PROGRAM_MARK "\t[bpf]"

/* Creates a file in memory with this text; -1: no memory. */
static int create_memory_file(const char *name, const char *text, size_t bytes)
{
	int file = memfd_create(name, MFD_CLOEXEC);
	ssize_t written = 0;

	while (file >= 0 && bytes && written >= 0) {
		written = write(file, text, bytes);
		text += written;
		bytes -= written;
	}
	if (file >= 0 && written < 0)
		close_file(&file);
	return file;
}

static int read_kallsyms(int list, char **text, size_t *bytes)
{
	int result = list < 0 ? list : whole_file_read_open_until(list, PROGRAM_MARK, text, bytes);

	if (!result && *bytes)
		return 0;
	if (!result)
		free(*text);
	return whole_file_read_until("/proc/kallsyms", PROGRAM_MARK, text, bytes);
}

int kernel_copy_read(int list, struct kernel_copy *copy, char **text, size_t *bytes)
{
	char *modules = NULL;
	size_t module_bytes = 0;
	bool has_modules = !whole_file_read("/proc/modules", &modules, &module_bytes);
	int err = read_kallsyms(list, text, bytes);

	*copy = (struct kernel_copy){-1, -1};
	if (!err && has_modules) {
		copy->modules = create_memory_file("modules", modules, module_bytes);
		copy->kallsyms = create_memory_file("kallsyms", *text, *bytes);
		if (copy->modules < 0 || copy->kallsyms < 0)
			kernel_copy_close(copy);
	}
	free(modules);
	return err;
}

void kernel_copy_close(struct kernel_copy *copy)
{
	close_file(&copy->kallsyms);
	close_file(&copy->modules);
}

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

/* Sets kernel->start to the address of _stext, which is among the first symbols of kallsyms; one
 * read gives a page at most. */
static void read_stext_address(int kallsyms, struct trace_module *kernel)
{
	char *text = malloc(FIRST_BYTES);
	size_t bytes = 0;
	ssize_t got = 1;

	while (text && got > 0 && bytes < FIRST_BYTES) {
		got = pread(kallsyms, text + bytes, FIRST_BYTES - bytes, bytes);
		bytes += got > 0 ? got : 0;
	}
	while (bytes && text[bytes - 1] != '\n')
		bytes--;
	if (text)
		kernel->start = kallsyms_address(text, bytes, "_stext");
	free(text);
}

/* Parses /proc/iomem for the line " 01000000-02209987 : Kernel code". Returns the number of bytes
 * in its range; 0: the addresses are hidden. */
static u64 kernel_code_bytes(int iomem)
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

bool are_kernel_addresses_shown(const struct kernel_files *files)
{
	struct trace_module kernel = {};

	if (files->kallsyms >= 0)
		read_stext_address(files->kallsyms, &kernel);
	return kernel.start;
}

/* Reads build id and address range of the kernel image. Hidden addresses stay 0. */
static int read_build_id_and_range_of_kernel(const struct kernel_files *files,
					     struct trace_module *kernel)
{
	char *text;
	size_t length;
	u64 bytes;
	int err;

	*kernel = (struct trace_module){.name = "vmlinux"};
	read_build_id("/sys/kernel/notes", kernel);
	if (files->kallsyms < 0)
		return 0;
	read_stext_address(files->kallsyms, kernel);
	if (!kernel->start)
		return 0;
	bytes = kernel_code_bytes(files->iomem);
	if (bytes) {
		kernel->end = kernel->start + bytes;
		return 0;
	}
	err = whole_file_read_open(files->kallsyms, &text, &length);
	if (err)
		return err;
	kernel->start = kallsyms_address(text, length, "_stext");
	kernel->end = kallsyms_address(text, length, "_etext");
	free(text);
	return 0;
}

int kernel_image_each_module(const struct kernel_files *files,
			     int (*each)(void *arg, const struct trace_module *module), void *arg,
			     struct stackmap_error *error)
{
	struct module_list list;
	struct trace_module module;
	char path[MODULE_NAME_BYTES + 64];
	int err = read_build_id_and_range_of_kernel(files, &module);

	if (err)
		return error_set(error, -err, "/proc/kallsyms: %s", strerror(-err));
	err = module_list_read_open(files->modules, &list);
	if (err)
		return error_set(error, -err, "/proc/modules: %s", strerror(-err));
	err = each(arg, &module);
	for (u32 i = 0; i < list.count && !err; i++) {
		const struct module *loaded = &list.modules[i];

		module = (struct trace_module){
			.name = loaded->name, .start = loaded->start, .end = loaded->end};
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
			 loaded->name);
		read_build_id(path, &module);
		err = each(arg, &module);
	}
	module_list_clear(&list);
	return err;
}
