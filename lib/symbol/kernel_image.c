/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own range is _stext .. _etext: its init code lies behind and is freed after boot, so
 * no frame can be in it. A BPF program belongs to no module; its name is in kallsyms.
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

static int take_border(void *arg, const struct kallsyms_line *line)
{
	struct trace_module *kernel = arg;

	if (line->module_bytes || line->name_bytes != strlen("_stext"))
		return 0;
	if (!memcmp(line->name, "_stext", line->name_bytes))
		kernel->start = line->address;
	else if (!memcmp(line->name, "_etext", line->name_bytes))
		kernel->end = line->address;
	return kernel->start && kernel->end;
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

static int read_kernel(struct trace_module *kernel)
{
	char *text;
	size_t bytes;
	int err = whole_file_read("/proc/kallsyms", &text, &bytes);

	*kernel = (struct trace_module){.name = "vmlinux"};
	read_build_id("/sys/kernel/notes", kernel);
	if (err == -ENOENT || err == -EACCES)
		return 0;
	if (err)
		return err;
	kallsyms_each(text, bytes, take_border, kernel);
	free(text);
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
