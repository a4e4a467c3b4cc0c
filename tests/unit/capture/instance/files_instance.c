/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "files_instance.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/skeleton.h"
#include "deferral.h"
#include "symbol/file/mapped_file.h"
#include "symbol/symbolizer/table_publish.h"

struct capture *capture;
static struct source_list sources;

static void mount_own_bpffs(void)
{
	if (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount("bpf", BPFFS, "bpf", 0, NULL))
		return;
	printf("no BPF file system of our own: %s\n", strerror(errno));
	skip();
}

void files_begin(struct files_options options, enum user_unwind unwind)
{
	struct capture_options what = {
		.sources = &sources, .bits = BITS, .has_files = true, .user_unwind = unwind};
	struct stackmap_error error;
	int result;

	mount_own_bpffs();
	result = source_list_add(
		&sources, "syscalls:sys_enter_getppid,syscalls:sys_enter_exit_group", 0, &error);
	result = result ?: capture_create(&what, &capture, &error);
	if (result) {
		printf("%s\n", error.message);
		assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP);
		skip();
	}
	assert_int_equal(mkdir(FOLDER, 0700), 0);
	options.folder = FOLDER;
	options.kernel_files = capture_kernel_files(capture);
	result = files_create(&capture->loaded, &options, &error);
	if (result)
		printf("%s\n", error.message);
	assert_int_equal(result, 0);
}

void files_end(void)
{
	capture_free(&capture);
	source_list_clear(&sources);
	umount2(BPFFS, MNT_DETACH);
}

int begin(void **state)
{
	(void)state;
	files_begin((struct files_options){.group = FILES_NO_GROUP}, USER_UNWIND_FP);
	return 0;
}

int begin_unwinding(void **state)
{
	(void)state;
	files_begin((struct files_options){.group = FILES_NO_GROUP}, USER_UNWIND_AUTO);
	if (!capture->loaded.plan.frame_pointers_only)
		return 0;
	files_end();
	printf("skip: instances have no unwind tables on this kernel: it has no task work for "
	       "programs\n");
	skip();
	return 0;
}

int end(void **state)
{
	(void)state;
	files_end();
	return 0;
}

FILE *open_file(const char *name)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	file = fopen(path, "re");
	assert_non_null(file);
	return file;
}

void assert_end(FILE *file)
{
	assert_int_equal(fgetc(file), EOF);
	assert_false(ferror(file));
	fclose(file);
}

static u32 count_given_mapping_numbers(void)
{
	int map = bpf_map__fd(loaded_programs(&capture->loaded)->maps.engine_state);
	struct engine_state engine;
	u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(map, &zero, &engine), 0);
	return engine.mapping_last;
}

/* The next number below `number` whose path has the name. */
static u32 number_below(u32 number, const char *name)
{
	char path[PATH_MAX] = "";

	while (number && !strstr(path, name)) {
		number--;
		mapped_file_path(loaded_mapping_record(&capture->loaded, number), path,
				 sizeof(path));
	}
	return number;
}

u32 number_of(const char *name)
{
	return number_below(count_given_mapping_numbers() + 1, name);
}

bool has_table(const char *name)
{
	int map = bpf_map__fd(loaded_programs(&capture->loaded)->maps.file_tables);
	u32 number = number_of(name);

	while (number && !is_table_in_map(map, number))
		number = number_below(number, name);
	return number;
}
