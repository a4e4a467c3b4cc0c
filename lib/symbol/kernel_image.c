/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own range is _stext .. _etext: its init code lies behind and is freed after boot, so
 * no frame can be in it. _etext is among the last of 100,000 symbols, and /proc/kallsyms is slow to
 * read; /proc/iomem has the length of the same range, and shows it to root. A BPF program belongs
 * to no module; its name is in kallsyms.
 */
#include "kernel_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "error.h"
#include "kallsyms.h"
#include "whole_file.h"

static bool is_named(const struct kallsyms_line *line, const char *name)
{
	return !line->module_bytes && line->name_bytes == strlen(name) &&
	       !memcmp(line->name, name, line->name_bytes);
}

static int take_start(void *arg, const struct kallsyms_line *line)
{
	struct trace_module *kernel = arg;

	if (!is_named(line, "_stext"))
		return 0;
	kernel->start = line->address;
	return 1;
}

static int take_end(void *arg, const struct kallsyms_line *line)
{
	struct trace_module *kernel = arg;

	if (!is_named(line, "_etext"))
		return 0;
	kernel->end = line->address;
	return 1;
}

static void read_build_id(const char *path, struct trace_module *module)
{
	char *notes;
	size_t bytes;

	if (whole_file_read(path, &notes, &bytes))
		return;
	module->build_id_bytes = build_id_from_notes(notes, bytes, module->build_id);
	free(notes);
}

/* _stext is among the first symbols. */
static int read_start(struct trace_module *kernel)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t bytes;

	if (!file)
		return -errno;
	while ((bytes = getline(&line, &room, file)) > 0)
		if (kallsyms_each(line, bytes, take_start, kernel))
			break;
	free(line);
	fclose(file);
	return 0;
}

/* "  01000000-02209987 : Kernel code"; 0 where the addresses are hidden. */
static u64 code_bytes(void)
{
	FILE *file = fopen("/proc/iomem", "re");
	unsigned long long first, last;
	u64 bytes = 0;
	char line[256];

	if (!file)
		return 0;
	while (!bytes && fgets(line, sizeof(line), file))
		if (strstr(line, " : Kernel code\n") &&
		    sscanf(line, " %llx-%llx", &first, &last) == 2 && last > first)
			bytes = last + 1 - first;
	fclose(file);
	return bytes;
}

static int search_end(struct trace_module *kernel)
{
	char *text;
	size_t bytes;
	int err = whole_file_read("/proc/kallsyms", &text, &bytes);

	if (err)
		return err;
	kallsyms_each(text, bytes, take_end, kernel);
	free(text);
	return 0;
}

static int read_kernel(struct trace_module *kernel)
{
	u64 bytes = code_bytes();
	int err;

	*kernel = (struct trace_module){.name = "vmlinux"};
	read_build_id("/sys/kernel/notes", kernel);
	err = read_start(kernel);
	if (err == -ENOENT || err == -EACCES || (!err && !kernel->start))
		return 0;
	if (bytes)
		kernel->end = kernel->start + bytes;
	else if (!err)
		err = search_end(kernel);
	return err;
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

int kernel_image_modules(int (*each)(void *arg, const struct trace_module *module), void *arg,
			 struct stackmap_error *error)
{
	struct module_list list;
	struct trace_module module;
	int err = read_kernel(&module);

	if (err)
		return error_set(error, -err, "/proc/kallsyms: %s", strerror(-err));
	err = module_list_read(&list);
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
