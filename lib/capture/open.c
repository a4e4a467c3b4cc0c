/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture made from the pins of an instance: the object is opened with the pinned maps in the
 * place of its own, and none of its programs is loaded. So constants and variables of the programs
 * are where they are for who started it.
 */
#include "capture/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/about.h"
#include "capture/bpffs/folder.h"
#include "capture/instance.h"
#include "capture/load/pid_namespace.h"
#include "capture/load/skeleton.h"
#include "capture/naming.h"
#include "capture/persist.h"
#include "error.h"

static int get_pin(struct folder *folder, const char *pin)
{
	int fd = bpf_obj_get(folder_pin_path(folder, pin));

	return fd < 0 ? -errno : fd;
}

/* libbpf keeps a descriptor of its own. */
static int use_pinned_map(struct bpf_map *map, struct folder *folder)
{
	char pin[PIN_BYTES];
	int fd, result;

	pin_of_map(bpf_map__name(map), pin);
	fd = get_pin(folder, pin);
	if (fd < 0)
		return fd;
	result = bpf_map__reuse_fd(map, fd);
	close(fd);
	return result;
}

static int use_pinned_maps(struct program_set *set, struct folder *folder)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int result = 0;

	bpf_object__for_each_program(program, set->object->obj)
		bpf_program__set_autoload(program, false);
	bpf_object__for_each_map(map, set->object->obj) result =
		result ?: use_pinned_map(map, folder);
	return result ?: program_set_load_object(set);
}

static int open_set(struct capture *capture, struct folder *folder)
{
	struct program_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	capture->attachment.sets = set;
	capture->attachment.set_count = 1;
	set->object = capture_bpf__open();
	return set->object ? use_pinned_maps(set, folder) : -errno;
}

/* The plan that the programs were loaded with. */
static void read_plan(struct capture *capture)
{
	const struct capture_bpf__rodata *constants = capture_programs(capture)->rodata;
	struct plan *plan = &capture->plan;

	memcpy(&plan->config, (const void *)&constants->config, sizeof(plan->config));
	memcpy(&plan->geometry, (const void *)&constants->geometry, sizeof(plan->geometry));
	memcpy(&plan->syscalls, (const void *)&constants->syscalls, sizeof(plan->syscalls));
	capture->foreign = plan->config.pids.inode != pid_namespace_inode();
}

static int open_tables(struct capture *capture, struct folder *folder)
{
	u32 i;
	int result = 0;

	for (i = 0; i < TABLE_ROLES && !result; i++) {
		char pin[PIN_BYTES];
		int fd;

		pin_of_table(i, pin);
		fd = get_pin(folder, pin);
		if (fd != -ENOENT)
			result = fd < 0 ? fd : generations_add(capture, fd);
	}
	return result;
}

struct opening {
	struct capture *capture;
	struct folder *folder;
};

static int open_program(void *arg, const char *pin)
{
	struct opening *opening = arg;
	struct capture *capture = opening->capture;
	int *grown = reallocarray(capture->programs, capture->program_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	capture->programs = grown;
	grown[capture->program_count] = get_pin(opening->folder, pin);
	return grown[capture->program_count] < 0 ? 0 : (capture->program_count++, 0);
}

/* Kept open: they are asked what they missed when their instance has ended, too. */
static int open_programs(struct capture *capture, struct folder *folder)
{
	struct opening opening = {.capture = capture, .folder = folder};
	char pin[PIN_BYTES];

	pin_of_program(0, "settle", pin);
	if (!capture->foreign)
		capture->settle_program = get_pin(folder, pin);
	return folder_pins(folder, PIN_EVENTS, open_program, &opening);
}

static int open_about(struct capture *capture, struct folder *folder, struct stackmap_error *error)
{
	int fd = get_pin(folder, PIN_ABOUT), result;

	if (fd < 0)
		return error_set(error, -fd, "%s: %s", folder_name(folder), strerror(-fd));
	result = about_read(fd, &capture->about, error);
	close(fd);
	if (result)
		return result;
	capture->sources = capture->attachment.sources = &capture->about->sources;
	return 0;
}

static int open_all(struct capture *capture, struct folder *folder, struct stackmap_error *error)
{
	int result = open_about(capture, folder, error);

	if (result)
		return result;
	result = capture_prepare_naming(capture) ?: open_set(capture, folder);
	if (!result)
		read_plan(capture);
	result = result ?: open_tables(capture, folder);
	result = result ?: open_programs(capture, folder);
	result = result ?: capture_share(capture);
	if (!result) {
		task_log_use_names(capture->tasks,
				   bpf_map__fd(capture_programs(capture)->maps.task_names));
		if (capture->foreign)
			task_log_ignore_proc(capture->tasks);
		return 0;
	}
	if (result == -EPERM)
		return error_set(error, EPERM,
				 "%s: the kernel refuses it to this user; run as root, or with "
				 "CAP_BPF",
				 folder_name(folder));
	return error_set(error, -result, "%s: %s", folder_name(folder), strerror(-result));
}

const struct about *capture_about(const struct capture *capture)
{
	return capture->about;
}

int capture_open(struct folder *folder, struct capture **out, struct stackmap_error *error)
{
	struct capture *capture = capture_new();
	int result;

	if (!capture)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	result = open_all(capture, folder, error);
	if (result) {
		capture_free(&capture);
		return result;
	}
	capture->running = true;
	*out = capture;
	return 0;
}
