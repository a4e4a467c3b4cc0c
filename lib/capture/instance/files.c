/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object is loaded over the maps of the instance, each program that shows something linked to
 * the array that it iterates, each link pinned under the name of its file. Then everything here is
 * let go. */
#include "capture/instance/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/instance/file_contents.h"
#include "capture/instance/files_skeleton.h"
#include "capture/instance/kernel_mappings.h"
#include "capture/load/skeleton.h"
#include "error.h"

/* What has the same name in the instance is that. */
static int lend_maps(struct files_bpf *files, const struct bpf_object *instance)
{
	struct bpf_map *map = NULL;
	int result = 0;

	while ((map = bpf_object__next_map(files->obj, map)) && !result) {
		int fd = bpf_object__find_map_fd_by_name(instance, bpf_map__name(map));

		if (fd >= 0)
			result = bpf_map__reuse_fd(map, fd);
	}
	return result;
}

static void set_constants(struct files_bpf *files, const struct loaded *loaded,
			  const struct files_options *options)
{
	const struct plan *plan = &loaded->plan;

	memcpy(&files->rodata->config, &plan->config, sizeof(plan->config));
	memcpy(&files->rodata->geometry, &plan->geometry, sizeof(plan->geometry));
	files->rodata->hides_addresses = options->hides_addresses;
}

static int load(struct files_bpf *files, struct loaded *loaded, const struct files_options *options,
		const struct kernel_mappings *kernel)
{
	int result;

	set_constants(files, loaded, options);
	result = file_contents_size(files, loaded, kernel);
	result = result ?: lend_maps(files, loaded_programs(loaded)->obj);
	result = result ?: files_bpf__load(files);
	return result ?: file_contents_fill(files, loaded, kernel);
}

static int set_access(const char *path, gid_t group)
{
	if (group == FILES_NO_GROUP)
		return chmod(path, 0400) ? -errno : 0;
	if (chown(path, -1, group) || chmod(path, 0440))
		return -errno;
	return 0;
}

#define SHOWS "show_"

/* The file has the name of its program, without "show_". */
static int pin_file(const struct bpf_program *program, int elements,
		    const struct files_options *options)
{
	union bpf_iter_link_info info = {.map.map_fd = elements};
	LIBBPF_OPTS(bpf_iter_attach_opts, iterated, .link_info = &info,
		    .link_info_len = sizeof(info));
	const char *name = bpf_program__name(program) + strlen(SHOWS);
	struct bpf_link *link = bpf_program__attach_iter(program, &iterated);
	char path[4096];
	int result = libbpf_get_error(link);

	if (result)
		return result;
	snprintf(path, sizeof(path), "%s/%s", options->folder, name);
	result = bpf_obj_pin(bpf_link__fd(link), path) ? -errno : set_access(path, options->group);
	bpf_link__destroy(link);
	return result;
}

static int pin_files(const struct files_bpf *files, const struct files_options *options)
{
	struct bpf_program *program = NULL;
	int result = 0;

	while ((program = bpf_object__next_program(files->obj, program)) && !result)
		if (!strncmp(bpf_program__name(program), SHOWS, strlen(SHOWS)))
			result = pin_file(program, bpf_map__fd(files->maps.elements), options);
	return result;
}

static int keep_running_code(const struct files_bpf *files, int *running_code)
{
	int program = bpf_program__fd(files->progs.number_running_code);

	*running_code = fcntl(program, F_DUPFD_CLOEXEC, 0);
	return *running_code < 0 ? -errno : 0;
}

int files_create(struct loaded *loaded, const struct files_options *options, int *running_code,
		 struct stackmap_error *error)
{
	struct kernel_mappings kernel;
	struct files_bpf *files;
	int result = kernel_mappings_read(options->kernel_files, options->hides_addresses, &kernel,
					  error);

	if (result)
		return result;
	files = files_bpf__open();
	result = files ? load(files, loaded, options, &kernel) : -errno;
	result = result ?: pin_files(files, options);
	result = result ?: keep_running_code(files, running_code);
	files_bpf__destroy(files);
	kernel_mappings_clear(&kernel);
	return result ? error_set(error, -result, "files in %s: %s", options->folder,
				  strerror(-result))
		      : 0;
}
