/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/feature/boot_facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/file/whole_file.h"

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define BYTES_MAX 65536 /* a larger file is not used any more */

struct boot_id {
	char text[64];
};

static bool read_boot_id(struct boot_id *id)
{
	return !whole_file_scan(BOOT_ID_PATH, "%63s", id->text);
}

/* True if only root or this user can write a file with this status. */
static bool is_file_written_by_trusted_user(const struct stat *status)
{
	return (status->st_uid == 0 || status->st_uid == geteuid()) &&
	       !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the file of facts, if it can be trusted; or -1. */
static int open_facts_file(const char *folder, int flags)
{
	int directory = open(folder, O_DIRECTORY | O_PATH | O_NOFOLLOW | O_CLOEXEC), fd;
	struct stat of_folder, of_file;

	if (directory < 0)
		return -1;
	fd = openat(directory, "facts", flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (fd >= 0 && (fstat(directory, &of_folder) || fstat(fd, &of_file) ||
			!is_file_written_by_trusted_user(&of_folder) ||
			!is_file_written_by_trusted_user(&of_file) || !S_ISREG(of_file.st_mode) ||
			of_file.st_size >= BYTES_MAX)) {
		close(fd);
		fd = -1;
	}
	close(directory);
	return fd;
}

/* The value of the last line with this boot id and name; -1: no such line. */
static int find_fact_in_boot_file(const char *text, const struct boot_id *id, const char *name)
{
	size_t length = strlen(id->text);
	const char *line, *end;
	int value = -1;

	for (line = text; (end = strchr(line, '\n')); line = end + 1)
		if (!strncmp(line, id->text, length) && line[length] == ' ' &&
		    (line[length + 1] == '0' || line[length + 1] == '1') &&
		    line[length + 2] == ' ' && (size_t)(end - line) == length + 3 + strlen(name) &&
		    !memcmp(line + length + 3, name, strlen(name)))
			value = line[length + 1] - '0';
	return value;
}

int boot_fact_read(const char *folder, const char *name)
{
	int fd = open_facts_file(folder, O_RDONLY), value = -1;
	struct boot_id id;
	size_t bytes;
	char *text;

	if (fd < 0)
		return -1;
	if (read_boot_id(&id) && !whole_file_read_open(fd, &text, &bytes)) {
		value = find_fact_in_boot_file(text, &id, name);
		free(text);
	}
	close(fd);
	return value;
}

/* Each line is one write(2), so processes that write at the same time can only repeat a line. */
void boot_fact_store(const char *folder, const char *name, bool value)
{
	struct boot_id id;
	char line[256];
	ssize_t written;
	int fd, bytes;

	if (!read_boot_id(&id))
		return;
	bytes = snprintf(line, sizeof(line), "%s %d %s\n", id.text, value, name);
	if (bytes >= (int)sizeof(line))
		return;
	mkdir(folder, 0755);
	fd = open_facts_file(folder, O_WRONLY | O_APPEND | O_CREAT);
	if (fd < 0)
		return;
	written = write(fd, line, bytes);
	(void)written; /* a fact that is not stored is found out again */
	close(fd);
}
