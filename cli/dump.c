/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap dump`: prints the stacks of a stack_map_bin file, or of an instance, as text or JSON.
 * The frames in such a file are addresses. They get names from files that were saved from the
 * machine of the dump, or from this machine. All stacks are read before the first is printed,
 * because --top needs all of them. If the file is damaged, the stacks before the damage are shown.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/instance/status.h"
#include "capture/load/loaded.h"
#include "command.h"
#include "error.h"
#include "format/json_text.h"
#include "format/mappings_text.h"
#include "format/printable.h"
#include "format/stack_map_bin_reader.h"
#include "process/privilege.h"
#include "script.h"
#include "stack.h"
#include "symbol/file/mapped_file.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/kernel_names.h"
#include "terminal/message.h"
#include "view/ledger_text.h"

struct dump_values {
	const char *instance;
	const char *vmlinux;
	const char *kallsyms;
	const char *mappings;
	u64 top;
	bool json;
};

struct dump {
	struct stack_map_bin_stack *stacks;
	size_t count, room;
	struct kernel_names *kernel;
	struct mappings *mappings;
	bool hides_addresses;	  /* true: this user may not see the instance's kernel addresses */
	struct capture *instance; /* the instance that the stacks are from; NULL: the stacks are
				     from a file */
};

static int append_stack_to_dump(void *arg, const struct stack_map_bin_stack *stack)
{
	struct dump *dump = arg;
	u64 *frames = malloc((stack->depth + 1) * sizeof(u64));

	if (!frames || array_make_room(dump->stacks, dump->count, dump->room)) {
		free(frames);
		return -ENOMEM;
	}
	for (u32 i = 0; i < stack->depth; i++)
		frames[i] = dump->hides_addresses && FRAME_IS_KERNEL(stack->frames[i])
				    ? 0
				    : stack->frames[i];
	dump->stacks[dump->count] = *stack;
	dump->stacks[dump->count++].frames = frames;
	return 0;
}

static bool find_name_of_user_frame(const struct dump *dump, u64 frame, char *text, size_t bytes)
{
	const struct mapping_record *record = NULL;
	char record_path[PATH_MAX];
	const char *path = script_runtime_name_of_mapping(FRAME_MAPPING(frame)), *slash;

	if (FRAME_IS_OMITTED(frame)) {
		if (frame == FRAME_OMITTED_SOME)
			snprintf(text, bytes, "[frames omitted]");
		else
			snprintf(text, bytes, "[%llu frames omitted]",
				 (unsigned long long)FRAME_OFFSET(frame));
		return true;
	}
	if (!path && dump->mappings)
		path = mappings_path(dump->mappings, FRAME_MAPPING(frame));
	if (!path && dump->instance)
		record =
			loaded_mapping_record(capture_loaded(dump->instance), FRAME_MAPPING(frame));
	if (record) {
		mapped_file_path(record, record_path, sizeof(record_path));
		path = record_path;
	}
	if (!path || !path[0])
		return false;
	slash = strrchr(path, '/');
	snprintf(text, bytes, "%.480s+0x%llx", slash && slash[1] ? slash + 1 : path,
		 (unsigned long long)FRAME_OFFSET(frame));
	return true;
}

/*
 * Writes the name of a frame to `text`; false if the frame has no name. `i` is the frame's number
 * in its stack. Every frame except the innermost one, 0, is a return address.
 */
static bool find_frame_name(const struct dump *dump, u64 frame, u32 i, char *text, size_t bytes)
{
	struct symbol symbol;

	if (!FRAME_IS_KERNEL(frame))
		return find_name_of_user_frame(dump, frame, text, bytes);
	/*
	 * A return address belongs to the call before it, and this call may be the last instruction
	 * of its function.
	 */
	if (!dump->kernel || !kernel_names_find(dump->kernel, frame - (i > 0), &symbol))
		return false;
	snprintf(text, bytes, "%s+0x%llx/0x%llx", symbol.name,
		 (unsigned long long)(frame - symbol.start), (unsigned long long)symbol.size);
	return true;
}

static json_t *make_json_of_address(u64 frame)
{
	return json_sprintf("0x%llx", (unsigned long long)frame);
}

static json_t *make_json_of_stack(const struct dump *dump, const struct stack_map_bin_stack *stack)
{
	json_t *ips = json_array(), *symbols = json_array();
	int failures = 0;
	char name[512];

	for (u32 i = 0; i < stack->depth; i++) {
		u64 frame = stack->frames[i];
		bool named = find_frame_name(dump, frame, i, name, sizeof(name));

		failures |= json_array_append_new(ips, make_json_of_address(frame));
		failures |= json_array_append_new(symbols, named ? json_text(name)
								 : make_json_of_address(frame));
	}
	if (failures) {
		json_decref(ips);
		ips = NULL;
	}
	return json_pack("{s:I, s:I, s:b, s:o, s:o}", "stack_id", (json_int_t)stack->id,
			 "ref_count", (json_int_t)stack->ref_count, "truncated", stack->truncated,
			 "ips", ips, "symbols", symbols);
}

static int compare_stacks_by_ref_count(const void *a, const void *b)
{
	const struct stack_map_bin_stack *left = a, *right = b;

	if (left->ref_count != right->ref_count)
		return left->ref_count < right->ref_count ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

static int print_stacks(struct dump *dump, const struct dump_values *values)
{
	size_t count = dump->count;
	char name[512];

	if (values->top && count)
		qsort(dump->stacks, count, sizeof(*dump->stacks), compare_stacks_by_ref_count);
	if (values->top && values->top < count)
		count = values->top;
	if (values->json) {
		json_t *array = json_array();
		int failures = 0;

		for (size_t i = 0; i < count; i++)
			failures |= json_array_append_new(
				array, make_json_of_stack(dump, &dump->stacks[i]));
		if (failures) {
			json_decref(array);
			array = NULL;
		}
		return json_put(array, stdout);
	}
	for (size_t i = 0; i < count && !ferror(stdout); i++) {
		const struct stack_map_bin_stack *stack = &dump->stacks[i];

		printf("stack_id %u [ref %u, depth %u]\n", stack->id, stack->ref_count,
		       stack->depth);
		for (u32 f = 0; f < stack->depth; f++) {
			printf("  [%u] 0x%llx", f, (unsigned long long)stack->frames[f]);
			if (find_frame_name(dump, stack->frames[f], f, name, sizeof(name))) {
				putchar(' ');
				printable_put(name, stdout);
			}
			putchar('\n');
		}
		printf("%s\n", stack->truncated ? "  ...\n" : "");
	}
	return 0;
}

static int load_names(struct dump *dump, const struct dump_values *values,
		      struct stackmap_error *error)
{
	const char *path = values->mappings;
	FILE *file = path ? fopen(path, "re") : NULL;
	struct stackmap_error why;
	u64 stext;
	int err = 0;

	if (path && !file)
		return error_set_errno(error, errno, path);
	if (file) {
		err = mappings_read(file, &dump->mappings, &why);
		fclose(file);
	}
	if (err) {
		error_set(error, -err, "%s: %.400s", path, why.message);
		error->offset = why.offset;
		return err;
	}
	stext = dump->mappings ? mappings_kernel_start(dump->mappings) : 0;
	if (values->vmlinux)
		return kernel_names_from_vmlinux(values->vmlinux, stext, &dump->kernel, error);
	if (values->kallsyms || values->instance)
		return kernel_names_from_kallsyms(values->kallsyms ?: "/proc/kallsyms",
						  &dump->kernel, error);
	return 0;
}

/* Reads the stacks of a file. The reader's error is prefixed with the name of the file. */
static int read_stacks(struct dump *dump, const char *path, struct stackmap_error *error)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	struct stackmap_error why = {.message = "not enough memory", .offset = STACKMAP_NO_OFFSET};
	int err;

	if (!file)
		return error_set_errno(error, errno, path);
	err = stack_map_bin_read(file, append_stack_to_dump, dump, &why);
	if (!standard)
		fclose(file);
	if (!err)
		return 0;
	error_set(error, -err, "%.400s: %.100s", standard ? "standard input" : path, why.message);
	error->offset = why.offset;
	return err;
}

static int read_instance(struct dump *dump, const char *name, struct stackmap_error *error)
{
	struct folder *folder;
	int err = folder_open(name, &folder, error);

	if (err)
		return err;
	err = folder_lock_wait(folder, error) ?: capture_open(folder, &dump->instance, error);
	if (!err) {
		dump->hides_addresses =
			!are_kernel_addresses_shown(capture_kernel_files(dump->instance));
		report_self_stop_of_instance(dump->instance, name);
		err = instance_each_stack(capture_loaded(dump->instance), append_stack_to_dump,
					  dump);
	}
	if (err == -ENOMEM)
		error_set_errno(error, ENOMEM, name);
	folder_close(&folder);
	return err;
}

/* Reads and prints the stacks of the file `path`; NULL: the stacks of an instance. */
static int dump_stacks(struct dump *dump, const struct dump_values *values, const char *path)
{
	struct stackmap_error error;
	int err = load_names(dump, values, &error);
	int read_err;

	if (err)
		return print_error_message(&error);
	read_err = path ? read_stacks(dump, path, &error)
			: read_instance(dump, values->instance, &error);
	if (!read_err || dump->count)
		err = print_stacks(dump, values);
	fflush(stdout);
	if (!read_err || dump->count)
		fprintf(stderr, "Total: %zu unique stacks\n", dump->count);
	if (read_err)
		print_error_message(&error);
	if (err)
		message("%s: %s", path ?: values->instance, strerror(-err));
	return err || read_err ? EXIT_FAILED : EXIT_DONE;
}

static int dump_run(const void *arg, int count, char **operands)
{
	const struct dump_values *values = arg;
	struct dump dump = {0};
	int status;

	if (!count == !values->instance) {
		message(count ? "--instance: the stacks are either those of an instance or of a "
				"file"
			      : "dump: no file given, see 'stackmap help dump'");
		return EXIT_USAGE;
	}
	if (values->vmlinux && values->kallsyms) {
		message("--vmlinux: --kallsyms already names the kernel's frames, give one of "
			"them");
		return EXIT_USAGE;
	}
	if (!values->instance)
		privilege_keep_reading_of_files();
	status = dump_stacks(&dump, values, count ? operands[0] : NULL);
	for (size_t i = 0; i < dump.count; i++)
		free((void *)dump.stacks[i].frames);
	free(dump.stacks);
	kernel_names_free(&dump.kernel);
	mappings_free(&dump.mappings);
	capture_free(&dump.instance);
	return status;
}

static const struct option_row rows[] = {
	{.name = "instance",
	 .type = OPTION_STRING,
	 .argument = "NAME",
	 .target = offsetof(struct dump_values, instance),
	 .group = "Input",
	 .help = "the stacks of this instance as they are now, instead of a file"},
	{.name = "top",
	 .letter = 'n',
	 .type = OPTION_U64,
	 .argument = "N",
	 .target = offsetof(struct dump_values, top),
	 .group = "Output",
	 .help = "only the N stacks with the highest ref counts",
	 .min = 1,
	 .max = UINT32_MAX},
	{.name = "json",
	 .letter = 'j',
	 .type = OPTION_FLAG,
	 .target = offsetof(struct dump_values, json),
	 .group = "Output",
	 .help = "a list of {stack_id, ref_count, ips, symbols}"},
	{.name = "kallsyms",
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct dump_values, kallsyms),
	 .group = "Names",
	 .help = "a copy of the machine's /proc/kallsyms, same boot"},
	{.name = "vmlinux",
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct dump_values, vmlinux),
	 .group = "Names",
	 .help = "its kernel with symbols; with KASLR give --mappings too"},
	{.name = "mappings",
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct dump_values, mappings),
	 .group = "Names",
	 .help = "its mappings: files of user frames, place of the kernel"},
	{0},
};

const struct command dump_command = {
	.name = "dump",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "show the stacks of a stack_map_bin file or of an instance",
	.rows = rows,
	.values_bytes = sizeof(struct dump_values),
	.run = dump_run,
};
