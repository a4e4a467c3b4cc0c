/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * write_names NAME FILE: a recording in which everything that has a name has this one: machine,
 * command, source, unit, file, module, functions of both, cgroup and task. Two events, of one stack
 * each of user and kernel mode, the second in code without a function.
 */
#include <stdio.h>
#include <string.h>

#include "trace/write/writer.h"

#define SECOND 1000000000ULL
#define CODE 0x1000 /* file offset and size of the function */
#define KERNEL_START 0xffffffffc0000000
#define FUNCTION_BYTES 0x100

static int write_code(struct trace_writer *writer, const char *name)
{
	const struct trace_module module = {
		.name = name, .start = KERNEL_START, .end = KERNEL_START + CODE};
	const struct trace_mapping mapping = {.number = 1, .kind = MAPPING_FILE, .path = name};
	const struct trace_symbol user = {
		.mapping = 1, .start = CODE, .size = FUNCTION_BYTES, .name = name};
	const struct trace_symbol kernel = {
		.start = KERNEL_START, .size = FUNCTION_BYTES, .name = name};

	return trace_writer_module(writer, &module) ?: trace_writer_mapping(writer, &mapping)
		       ?: trace_writer_symbol(writer, &user)
			       ?: trace_writer_symbol(writer, &kernel);
}

static int write_task(struct trace_writer *writer, const char *name)
{
	struct trace_cgroup cgroup = {.id = 7, .path = name};
	struct trace_task task = {.tid = 100, .tgid = 100};
	int err = trace_writer_cgroup(writer, &cgroup, &task.cgroup);

	snprintf(task.comm, sizeof(task.comm), "%s", name);
	return err ?: trace_writer_task(writer, &task);
}

static int write_event(struct trace_writer *writer, u64 offset, u64 time)
{
	const u64 user_frame = FRAME_USER(1, CODE + offset), kernel_frame = KERNEL_START + offset;
	const struct trace_stack user = {.flags = STACK_USER, .depth = 1, .frames = &user_frame};
	const struct trace_stack kernel = {.depth = 1, .frames = &kernel_frame};
	struct trace_event event = {.time = time, .tid = 100, .value = 5};
	int err = trace_writer_stack(writer, &user, &event.user)
			  ?: trace_writer_stack(writer, &kernel, &event.kernel);

	return err ?: trace_writer_event(writer, &event);
}

static int write_all(struct trace_writer *writer, const char *name)
{
	const struct trace_source source = {
		.name = name, .extras = TRACE_EXTRA_VALUE, .value_unit = name};
	const struct trace_ledger ledger = {.produced = 2, .recorded = 2};

	return trace_writer_source(writer, &source) ?: write_code(writer, name)
		       ?: write_task(writer, name)
			       ?: write_event(writer, 0x10, 1001 * SECOND)
				       ?: write_event(writer, 0x810, 1002 * SECOND)
					       ?: trace_writer_ledger(writer, &ledger, NULL, 0);
}

static int write_file(const char *name, const char *path)
{
	const struct trace_info info = {
		.start_realtime = 1700000000 * SECOND,
		.start_monotonic = 1000 * SECOND,
		.cpus = 1,
		.bits = 14,
		.address_shown = 1,
		.hostname = name,
		.kernel = name,
		.machine = name,
		.command = name,
		.version = name,
	};
	struct trace_writer *writer;
	int err = trace_writer_create(path, &info, &writer, NULL);

	if (err)
		return err;
	err = write_all(writer, name);
	return trace_writer_close(&writer) ?: err;
}

int main(int argc, char **argv)
{
	int err = argc == 3 ? write_file(argv[1], argv[2]) : 0;

	if (err)
		fprintf(stderr, "write_names: %s\n", strerror(-err));
	return argc != 3 ? 2 : err != 0;
}
