/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The identity of a file is compared when the file is opened; later only its content can change. */
#include "kept_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_place.h"

struct kept {
	struct mapping_key key;
	int file;
	struct timespec written;
};

struct kept_code {
	u32 room;
	u32 count; /* files kept so far; slots are used in turn */
	struct kept kept[];
};

int kept_code_create(struct kept_code **out)
{
	u32 room = file_open_limit(KEPT_CODE_FILES, 4);
	struct kept_code *code = calloc(1, sizeof(*code) + room * sizeof(code->kept[0]));

	if (!code)
		return -ENOMEM;
	code->room = room;
	*out = code;
	return 0;
}

static u32 kept_file_count(const struct kept_code *code)
{
	return code->count < code->room ? code->count : code->room;
}

void kept_code_free(struct kept_code **code)
{
	if (!*code)
		return;
	for (u32 i = 0; i < kept_file_count(*code); i++)
		close((*code)->kept[i].file);
	free(*code);
	*code = NULL;
}

static const struct kept *find_kept_file(const struct kept_code *code,
					 const struct mapping_key *key)
{
	for (u32 i = 0; i < kept_file_count(code); i++)
		if (!memcmp(&code->kept[i].key, key, sizeof(*key)))
			return &code->kept[i];
	return NULL;
}

int kept_code_keep(struct kept_code *code, const struct mapping_record *record, const char *path,
		   kept_code_opener open)
{
	struct kept *slot = &code->kept[code->count % code->room];
	struct stat status;
	int file;

	if (find_kept_file(code, &record->key))
		return 0;
	file = open(record, path);
	if (file < 0)
		return -ENOENT;
	if (fstat(file, &status)) {
		close(file);
		return -ENOENT;
	}
	if (code->count >= code->room)
		close(slot->file);
	*slot = (struct kept){record->key, file, status.st_mtim};
	code->count++;
	return 0;
}

int kept_code_open(const struct kept_code *code, const struct mapping_record *record,
		   const char *path, kept_code_opener open)
{
	const struct kept *kept = find_kept_file(code, &record->key);
	struct stat status;
	int file = -1;

	/* the file that is kept, if it is unchanged */
	if (kept && !fstat(kept->file, &status) && status.st_mtim.tv_sec == kept->written.tv_sec &&
	    status.st_mtim.tv_nsec == kept->written.tv_nsec)
		file = fcntl(kept->file, F_DUPFD_CLOEXEC, 0);
	return file < 0 ? open(record, path) : file;
}
