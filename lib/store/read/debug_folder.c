/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Only files with code are added, because a file with debug information alone does not have the
 * addresses of code. Symbolic links are not followed, so the walk ends and stays in the folder. */
#include "store/read/debug_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"

#define ELF_MAGIC "\177ELF"

struct code_file {
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 bytes;
	char *path;
};

struct debug_folder {
	struct code_file *files;
	u32 count, room;
};

static bool is_elf(int file)
{
	char magic[4];

	return pread(file, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELF_MAGIC, sizeof(magic));
}

static int add(struct debug_folder *files, const struct debug_link *link, const char *path)
{
	struct code_file file = {.bytes = link->build_id_bytes, .path = strdup(path)};

	if (!file.path || array_make_room(files->files, files->count, files->room)) {
		free(file.path);
		return -ENOMEM;
	}
	memcpy(file.build_id, link->build_id, link->build_id_bytes);
	files->files[files->count++] = file;
	return 0;
}

static int look_at(struct debug_folder *files, const FTSENT *entry, size_t folder_bytes,
		   struct debug_lookup *lookup)
{
	int file = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct debug_link link;
	int err = 0;

	if (file < 0)
		return 0;
	if (is_elf(file) && debug_lookup_link(lookup, file, &link) && link.build_id_bytes &&
	    link.has_code)
		err = add(files, &link, entry->fts_path + folder_bytes);
	close(file);
	return err;
}

static int walk(struct debug_folder *files, char *folder, struct debug_lookup *lookup)
{
	char *const folders[] = {folder, NULL};
	FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int err = 0;

	if (!tree)
		return -errno;
	for (FTSENT *entry; !err && (entry = fts_read(tree));)
		if (entry->fts_info == FTS_F)
			err = look_at(files, entry, strlen(folder), lookup);
	fts_close(tree);
	return err;
}

int debug_folder_create(const char *folder, struct debug_lookup *lookup, struct debug_folder **out)
{
	struct debug_folder *files = calloc(1, sizeof(*files));
	char *path = realpath(folder, NULL);
	int err = !files ? -ENOMEM : path ? 0 : -errno;

	err = err ?: walk(files, path, lookup);
	free(path);
	if (err)
		debug_folder_free(&files);
	else
		*out = files;
	return err;
}

void debug_folder_free(struct debug_folder **files)
{
	if (!*files)
		return;
	for (u32 i = 0; i < (*files)->count; i++)
		free((*files)->files[i].path);
	free((*files)->files);
	free(*files);
	*files = NULL;
}

const char *debug_folder_find(const struct debug_folder *files, const u8 *build_id, u32 bytes)
{
	for (u32 i = 0; i < files->count; i++)
		if (files->files[i].bytes == bytes &&
		    !memcmp(files->files[i].build_id, build_id, bytes))
			return files->files[i].path;
	return NULL;
}
