/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening a device may have side effects, and opening a FIFO may block. Each entry is therefore
 * first opened with O_PATH, which does neither, and then opened for reading through that descriptor
 * if it is a regular file. A file that replaces the name in between is not read.
 */
#include "merge/recording_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "error.h"
#include "order.h"
#include "output/output.h"
#include "trace/read/reader.h"

#define FOLDER_FILES_MAX 65536

/* State of adding a folder to the list. */
struct reading {
	struct recording_list *list;
	const char *path;
	int fd;
	u32 first; /* index of the folder's first recording in the list */
	char **names;
	u32 count, room;
};

static int add_reader(struct recording_list *list, struct trace_reader *reader,
		      const struct file_identity *file)
{
	if (array_make_room(list->readers, list->count, list->room) ||
	    array_make_room(list->files, list->count, list->file_room))
		return -ENOMEM;
	list->files[list->count] = *file;
	list->readers[list->count++] = reader;
	return 0;
}

static int set_too_many_error(const char *path, struct stackmap_error *error)
{
	return error_set(error, E2BIG, "%s: more than %u recordings at once", path,
			 RECORDING_LIST_MAX);
}

int recording_list_add_file(struct recording_list *list, const char *path,
			    struct stackmap_error *error)
{
	const struct file_identity unknown = {};
	struct trace_reader *reader;
	int err;

	if (list->count == RECORDING_LIST_MAX)
		return set_too_many_error(path, error);
	err = trace_reader_open(path, &reader, error);
	if (err || !add_reader(list, reader, &unknown))
		return err;
	trace_reader_close(&reader);
	return error_set_errno(error, ENOMEM, path);
}

static int read_names_of_folder_files(struct reading *reading)
{
	int fd = openat(reading->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		if (reading->count == FOLDER_FILES_MAX)
			err = -E2BIG;
		else if (array_make_room(reading->names, reading->count, reading->room) ||
			 !(reading->names[reading->count] = strdup(entry->d_name)))
			err = -ENOMEM;
		else
			reading->count++;
	}
	if (!err && errno)
		err = -errno;
	closedir(folder);
	if (!err && reading->count)
		qsort(reading->names, reading->count, sizeof(*reading->names), compare_texts);
	return err;
}

static void report_missing_recording(struct reading *reading, const struct stackmap_error *why)
{
	reading->list->missing++;
	if (reading->list->note)
		reading->list->note(reading->list->arg, why);
}

static void report_unreadable_recording(struct reading *reading, const char *name, int code)
{
	struct stackmap_error why;

	error_set(&why, code, "%s/%s: cannot be read: %s", reading->path, name, strerror(code));
	report_missing_recording(reading, &why);
}

/* Opens an entry, or the target of its link, with O_PATH, and returns the descriptor. -ENOENT,
 * -ELOOP: the entry is gone, or a dangling link; -EPERM: a link of another user. */
static int open_entry_path(const struct reading *reading, const char *name, struct stat *status)
{
	int place = openat(reading->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (place < 0)
		return -errno;
	if (fstat(place, status)) {
		close(place);
		return -EIO;
	}
	if (!S_ISLNK(status->st_mode))
		return place;
	close(place);
	if (!is_output_owner_trusted(status->st_uid))
		return -EPERM;
	place = openat(reading->fd, name, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -errno;
	if (!fstat(place, status))
		return place;
	close(place);
	return -EIO;
}

/* Adds the recording in the open file `fd`, which is closed, also after a failure. The memory limit
 * covers all open recordings of the folder. */
static int add_recording(struct reading *reading, const char *name, int fd,
			 const struct file_identity *file, struct stackmap_error *error)
{
	struct recording_list *list = reading->list;
	char path[PATH_MAX + NAME_MAX + 2];
	struct stackmap_error why;
	struct trace_reader *reader;
	int err;

	snprintf(path, sizeof(path), "%s/%s", reading->path, name);
	err = trace_reader_open_fd(fd, path, &reader, &why);
	if (err) {
		report_missing_recording(reading, &why);
		return 0;
	}
	if (add_reader(list, reader, file)) {
		trace_reader_close(&reader);
		return error_set_errno(error, ENOMEM, path);
	}
	if (trace_readers_fit_memory_limit(&list->readers[reading->first],
					   list->count - reading->first))
		return 0;
	trace_reader_close(&list->readers[--list->count]);
	error_set(&why, EBADMSG,
		  "%s: damaged: with the others it unfolds into more memory than recordings of "
		  "their size need",
		  path);
	report_missing_recording(reading, &why);
	return 0;
}

/* Adds a regular file if it is a recording. `place`: a descriptor of the file with O_PATH, which is
 * closed, also after a failure. */
static int add_regular_file(struct reading *reading, const char *name, int place,
			    const struct file_identity *file, struct stackmap_error *error)
{
	const struct recording_list *list = reading->list;
	u32 listed = reading->first;
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	fd = fd < 0 ? -errno : fd;
	close(place);
	if (fd == -EMFILE || fd == -ENFILE)
		return error_set_errno(error, -fd, reading->path);
	if (fd < 0) {
		report_unreadable_recording(reading, name, -fd);
		return 0;
	}
	while (listed < list->count && (list->files[listed].device != file->device ||
					list->files[listed].inode != file->inode))
		listed++;
	if (!trace_reader_is_recording(fd) || listed < list->count) {
		close(fd);
		return 0;
	}
	if (list->count == RECORDING_LIST_MAX) {
		close(fd);
		return set_too_many_error(reading->path, error);
	}
	return add_recording(reading, name, fd, file, error);
}

static int add_folder_entry(struct reading *reading, const char *name, struct stackmap_error *error)
{
	struct stat status;
	int place = open_entry_path(reading, name, &status);

	if (place == -EMFILE || place == -ENFILE)
		return error_set_errno(error, -place, reading->path);
	if (place == -EPERM) {
		struct stackmap_error why;

		error_set(&why, EPERM,
			  "%s/%s: a link of user %u, whom you need not trust, is not followed: "
			  "name the file itself",
			  reading->path, name, status.st_uid);
		report_missing_recording(reading, &why);
	} else if (place < 0 && place != -ENOENT && place != -ELOOP)
		report_unreadable_recording(reading, name, -place);
	if (place < 0)
		return 0;
	if (!S_ISREG(status.st_mode)) {
		close(place);
		return 0;
	}
	return add_regular_file(reading, name, place,
				&(struct file_identity){status.st_dev, status.st_ino}, error);
}

static int add_folder_entries(struct reading *reading, struct stackmap_error *error)
{
	int err = read_names_of_folder_files(reading);

	if (err == -E2BIG)
		return error_set(error, E2BIG, "%s: more than %u files in one folder",
				 reading->path, FOLDER_FILES_MAX);
	if (err)
		return error_set(error, -err, "%s: cannot be read: %s", reading->path,
				 strerror(-err));
	for (u32 i = 0; i < reading->count && !err; i++)
		err = add_folder_entry(reading, reading->names[i], error);
	if (err || reading->list->count > reading->first)
		return err;
	return error_set(error, ENOENT,
			 "%s: no recording in this folder: none of its files begins as one and "
			 "can be read",
			 reading->path);
}

int recording_list_add_folder(struct recording_list *list, const char *path,
			      struct stackmap_error *error)
{
	struct reading reading = {.list = list, .path = path, .first = list->count};
	int err;

	reading.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (reading.fd < 0)
		return error_set(error, errno, "%s: cannot be read: %s", path, strerror(errno));
	err = add_folder_entries(&reading, error);
	while (reading.count)
		free(reading.names[--reading.count]);
	free(reading.names);
	close(reading.fd);
	return err;
}

bool recording_list_is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

void recording_list_clear(struct recording_list *list)
{
	while (list->count)
		trace_reader_close(&list->readers[--list->count]);
	free(list->readers);
	free(list->files);
	*list = (struct recording_list){.note = list->note, .arg = list->arg};
}
