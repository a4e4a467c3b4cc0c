/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the file whose malloc() a program calls: the program itself if it has one (static linking),
 * else a library that is mapped besides the C library, else the C library. The functions that map
 * files and memory are always the C library's.
 */
#include "session/leaks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/source/program_file.h"
#include "error.h"

#define C_LIBRARY "libc.so.6"

static const struct {
	const char *begin, *end, *by, *value;
	bool is_mapping;
	bool is_optional; /* true: a file without the function is not an error, as some allocators
			     lack it */
} functions[] = {
	{"malloc", "free", "ret:arg1", "arg1", false, false},
	{"calloc", "free", "ret:arg1", "arg1*arg2", false, false},
	{"realloc", "realloc", "ret:arg1", "arg2", false, false},
	{"posix_memalign", "free", "*arg1:arg1", "arg3", false, true},
	{"aligned_alloc", "free", "ret:arg1", "arg2", false, true},
	{"memalign", "free", "ret:arg1", "arg2", false, true},
	{"valloc", "free", "ret:arg1", "arg1", false, true},
	{"pvalloc", "free", "ret:arg1", "arg1", false, true},
	{"mmap", "munmap", "ret:arg1", "arg2", true, true},
	{"mremap", "mremap", "ret:arg1", "arg3", true, true},
};

struct allocator {
	char file[PATH_MAX]; /* path of the allocator's file; "": not found yet */
	char mapper[PATH_MAX];
};

static int stop_at_malloc_symbol(void *arg, const struct elf_function *function)
{
	(void)arg;
	return !strcmp(function->name, "malloc") ? 1 : 0;
}

static bool defines_malloc(const char *path)
{
	struct program_file file;
	bool found;

	if (program_file_open(path, &file))
		return false;
	found = elf_function_each(file.fd, stop_at_malloc_symbol, NULL) == 1;
	close(file.fd);
	return found;
}

/* Stores the path of a file in `allocator` if the file is the C library, or the first other file
 * that has malloc(). */
static void store_path_of_c_library_or_allocator(struct allocator *allocator, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool is_c_library = !strncmp(name, "libc.so", 7) || !strncmp(name, "libc.musl", 9) ||
			    !strncmp(name, "ld-musl", 7) || !strncmp(name, "libc-2.", 7);
	bool is_dynamic_linker = slash && !strncmp(name, "ld-linux", 8);

	if (is_c_library)
		snprintf(allocator->mapper, sizeof(allocator->mapper), "%s", path);
	else if (!allocator->file[0] && !is_dynamic_linker && defines_malloc(path))
		snprintf(allocator->file, sizeof(allocator->file), "%s", path);
}

/* Examines the code files that a process has mapped, beginning with the program. */
static void find_allocator_in_maps_of_process(struct allocator *allocator, const char *pid)
{
	char *line = NULL, *path, maps[64];
	size_t room = 0;
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", atoi(pid));
	file = fopen(maps, "re");
	while (file && getline(&line, &room, file) > 0) {
		path = strchr(line, '/');
		if (!path || !strstr(line, " r-xp "))
			continue;
		path[strcspn(path, "\n")] = '\0';
		store_path_of_c_library_or_allocator(allocator, path);
	}
	free(line);
	if (file)
		fclose(file);
}

static int add_allocation_source(u32 i, const char *path, u64 every, struct source_list *sources,
				 struct stackmap_error *error)
{
	char sampled[32] = "";
	struct stackmap_error reason;
	char *word;
	int err;

	if (every)
		snprintf(sampled, sizeof(sampled), ",every=%llu", (unsigned long long)every);
	if (asprintf(&word, "alive:ur:%s:%s..u:%s:%s/by=%s,value=%s:bytes%s/", path,
		     functions[i].begin, path, functions[i].end, functions[i].by,
		     functions[i].value, sampled) < 0)
		return error_set(error, ENOMEM, "--leaks: %s", strerror(ENOMEM));
	sources->option = "--leaks:";
	err = source_list_add(sources, word, 0, &reason);
	sources->option = NULL;
	free(word);
	if (err == -ENOENT && functions[i].is_optional)
		return 0;
	return err ? error_set(error, -err, "%s", reason.message) : 0;
}

int leaks_add_sources(const struct session_options *options, struct source_list *sources,
		      struct stackmap_error *error)
{
	struct allocator allocator = {};
	char command[PATH_MAX];
	int result = 0;

	if (options->pids.count)
		find_allocator_in_maps_of_process(&allocator, options->pids.items[0]);
	else if (options->command && !program_file_find(options->command, command))
		store_path_of_c_library_or_allocator(&allocator, command);
	if (!allocator.mapper[0])
		strcpy(allocator.mapper, allocator.file[0] ? allocator.file : C_LIBRARY);
	if (!allocator.file[0])
		strcpy(allocator.file, allocator.mapper);
	for (u32 i = 0; i < sizeof(functions) / sizeof(*functions) && !result; i++)
		result = add_allocation_source(
			i, functions[i].is_mapping ? allocator.mapper : allocator.file,
			options->leaks_every, sources, error);
	return result;
}
