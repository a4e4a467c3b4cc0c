/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linkat(2) gives a file its name and never replaces a file. If a file with the name exists, the
 * new file first gets a temporary name, and rename(2) then replaces the existing file.
 */
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "privilege/capability.h"

/*
 * Links are followed one by one, and the owner of each link is checked first: the kernel refuses
 * links of other users only in sticky folders, and only if fs.protected_symlinks is set. The folder
 * is opened once, so later operations are in the same folder, even if the path to it changes.
 */

#define LINKS_MAX 40 /* most links that are followed one after the other, as in the kernel */

bool is_output_owner_trusted(uid_t owner)
{
	return !owner || owner == geteuid();
}

int set_output_write_error(const char *path, int result, struct stackmap_error *error)
{
	return error_set(error, -result, "%s: cannot be written: %s", path, strerror(-result));
}

/* Opens the folder of `path` and sets place->name. A relative path counts from the current
 * place->folder. */
static int open_parent_folder(struct output_place *place, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	int before = place->folder;

	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	if (strlen(path) >= PATH_MAX || strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
	strcpy(place->name, name);
	place->folder = openat(before, slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (before >= 0)
		close(before);
	return place->folder < 0 ? -errno : 0;
}

static int stat_file_of_output_name(struct output_place *place)
{
	if (fstatat(place->folder, place->name, &place->status, AT_SYMLINK_NOFOLLOW)) {
		place->exists = false;
		return errno == ENOENT ? 0 : -errno;
	}
	place->exists = true;
	return 0;
}

static int replace_output_path_by_link_target(struct output_place *place)
{
	char target[PATH_MAX];
	ssize_t bytes;

	if (!is_output_owner_trusted(place->status.st_uid))
		return -EPERM;
	bytes = readlinkat(place->folder, place->name, target, sizeof(target) - 1);
	if (bytes < 0)
		return -errno;
	target[bytes] = '\0';
	return open_parent_folder(place, target) ?: stat_file_of_output_name(place);
}

int output_place_find(const char *path, struct output_place *place, struct stackmap_error *error)
{
	struct output_place found = {.folder = AT_FDCWD};
	int links = 0,
	    result = open_parent_folder(&found, path) ?: stat_file_of_output_name(&found);
	struct statfs system;

	/* A link in /proc, which the kernel makes for an open file, is not followed here, since its
	 * text need not be a path. */
	while (!result && found.exists && S_ISLNK(found.status.st_mode) &&
	       (fstatfs(found.folder, &system) || system.f_type != PROC_SUPER_MAGIC))
		result = ++links > LINKS_MAX ? -ELOOP : replace_output_path_by_link_target(&found);
	if (!result) {
		*place = found;
		return 0;
	}
	output_place_close(&found);
	if (result == -EPERM)
		return error_set(error, EPERM,
				 "%s: a link of user %u, whom you need not trust, is not followed: "
				 "remove it, or choose another name",
				 path, found.status.st_uid);
	return set_output_write_error(path, result, error);
}

void output_place_close(struct output_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	place->folder = -1;
}

bool output_name_of_old_file(const struct output_place *place, char old[NAME_MAX + 1])
{
	return snprintf(old, NAME_MAX + 1, "%s.old", place->name) <= NAME_MAX;
}

/*
 * True if this user may move an existing file: in a sticky folder only the owner of the file or of
 * the folder may.
 */
static bool may_rename_existing_file(const struct output_place *place, const struct stat *file)
{
	struct stat folder;

	if (fstat(place->folder, &folder) || !(folder.st_mode & S_ISVTX))
		return true;
	return file->st_uid == geteuid() || folder.st_uid == geteuid() ||
	       capability_held() & CAPABILITY(CAP_FOWNER);
}

static int check_name_for_old_file(const struct output_place *place)
{
	char old[NAME_MAX + 1];
	struct stat status;

	if (!output_name_of_old_file(place, old))
		return -ENAMETOOLONG;
	if (!place->exists)
		return 0;
	if (fstatat(place->folder, old, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return may_rename_existing_file(place, &status) ? 0 : -EPERM;
}

int output_place_check(const struct output_place *place, bool kept, const char *path,
		       struct stackmap_error *error)
{
	int result;

	if (place->exists && S_ISDIR(place->status.st_mode))
		return set_output_write_error(path, -EISDIR, error);
	if (place->exists && !may_rename_existing_file(place, &place->status))
		return error_set(error, EPERM,
				 "%s: belongs to user %u, and cannot be replaced in a folder where "
				 "each keeps his own: choose another name",
				 path, place->status.st_uid);
	result = kept ? check_name_for_old_file(place) : 0;
	if (!result)
		return 0;
	return error_set(error, -result, "%s: cannot be renamed to %s.old: %s", path, path,
			 strerror(-result));
}

#define NAME_TRIES 100
#define READER_NAP_MS 20
#define POLL_MS 100
/* Longest wait for a reader of a pipe after the user has requested the end. */
#define LAST_WAIT_MS 1000

/* If poll(2) reports room in a pipe, this many bytes can be written without waiting. */
#define PIPE_BYTES 4096

static struct {
	int folder;
	char name[NAME_MAX + 1]; /* temporary name of an output; "": no output has one */
} standing;

void output_remove_temporary(void)
{
	if (standing.name[0])
		unlinkat(standing.folder, standing.name, 0);
}

/* --- outputs that are written in place --- */

static bool is_not_regular_file(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && !S_ISREG(status.st_mode);
}

static int open_standard_stream(int standard, struct output *output)
{
	output->fd = fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (output->fd < 0)
		return -errno;
	output->waits = is_not_regular_file(output->fd);
	return 0;
}

/*
 * Returns the descriptor of standard output or standard error if it is the same file as `named` (as
 * /dev/stdout is), whoever owns the file; -1: `named` is another file.
 */
static int find_standard_stream(const struct stat *named)
{
	struct stat status;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &status) && status.st_dev == named->st_dev &&
		    status.st_ino == named->st_ino)
			return fd;
	return -1;
}

/*
 * Checks that the opened file is the file whose status was read before, since the name may lead to
 * another file now. Then sets the descriptor to blocking mode.
 */
static int check_opened_file_and_make_blocking(int fd, const struct stat *wanted)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_dev != wanted->st_dev || status.st_ino != wanted->st_ino)
		return -EBUSY;
	return fcntl(fd, F_SETFL, 0) ? -errno : 0;
}

/*
 * Opens a FIFO or a device. The open of a FIFO without a reader fails, so it is repeated until
 * there is a reader. If the name still is a link here, it is a link in /proc.
 */
static int open_special_file(const struct output_place *place, const struct stat *wanted)
{
	const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
			  (S_ISLNK(place->status.st_mode) ? 0 : O_NOFOLLOW);
	int fd = openat(place->folder, place->name, flags);

	while (fd < 0 && errno == ENXIO && S_ISFIFO(wanted->st_mode)) {
		if (interrupted())
			return -EINTR;
		sleep_until_timeout_or_signal(READER_NAP_MS);
		fd = openat(place->folder, place->name, flags);
	}
	return fd < 0 ? -errno : fd;
}

static int open_special_file_of_trusted_user(struct output *output, const struct stat *wanted)
{
	int fd, result;

	if (!is_output_owner_trusted(wanted->st_uid))
		return -EPERM;
	fd = open_special_file(&output->place, wanted);
	if (fd < 0)
		return fd;
	result = check_opened_file_and_make_blocking(fd, wanted);
	if (result) {
		close(fd);
		return result;
	}
	output->fd = fd;
	output->waits = is_not_regular_file(fd);
	return 0;
}

/* --- regular files --- */

static void clear_temporary_name_without_unlink(struct output *output)
{
	output->temporary[0] = standing.name[0] = '\0';
}

/* Calls `make` with new temporary names until a name is free. */
static int try_temporary_names(struct output *output, int (*make)(struct output *output))
{
	int result = -EEXIST;

	for (int i = 0; i < NAME_TRIES && result == -EEXIST; i++) {
		unsigned int number = 0;

		/* Chooses a temporary name. The random part only avoids the names of files that
		 * were left behind. */
		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
			number = clock_ns(CLOCK_MONOTONIC);
		snprintf(output->temporary, sizeof(output->temporary), "%.*s.%08x", NAME_MAX - 9,
			 output->place.name, number);
		result = make(output);
	}
	if (result) {
		output->temporary[0] = '\0';
	} else {
		standing.folder = output->place.folder;
		strcpy(standing.name, output->temporary);
	}
	return result;
}

static mode_t output_file_mode(const struct output *output)
{
	return output->kind == OUTPUT_RECORDING ? 0600 : 0666;
}

static int create_temporary_file(struct output *output)
{
	output->fd = openat(output->place.folder, output->temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    output_file_mode(output));
	return output->fd < 0 ? -errno : 0;
}

static void format_proc_path_of_output(const struct output *output, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", output->fd);
}

/*
 * Opens a file that has no name yet. False: the file system does not support that, or /proc is
 * missing, without which the file could not get a name: linkat(2) from a descriptor needs a
 * capability that is dropped later.
 */
static bool open_unnamed_file(struct output *output)
{
	char path[32];

	output->fd = openat(output->place.folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
			    output_file_mode(output));
	if (output->fd < 0)
		return false;
	format_proc_path_of_output(output, path);
	if (!access(path, F_OK))
		return true;
	close(output->fd);
	output->fd = -1;
	return false;
}

static int open_regular_file(struct output *output, struct stackmap_error *error)
{
	const struct stat *former = &output->place.status;
	bool kept = output->kind == OUTPUT_RECORDING;
	int result = output_place_check(&output->place, kept, output->path, error);
	mode_t mode = 0;

	if (result)
		return result;
	output->is_file = true;
	/* The file gets the mode of the file that it replaces, if that is our own: another user's
	 * file does not make ours readable for that user. */
	if (!kept && output->place.exists && former->st_uid == geteuid())
		mode = former->st_mode & 0777;
	result = open_unnamed_file(output) ? 0 : try_temporary_names(output, create_temporary_file);
	if (!result && mode && fchmod(output->fd, mode))
		result = -errno;
	return result ? set_output_write_error(output->path, result, error) : 0;
}

static int open_named_output(struct output *output, struct stackmap_error *error)
{
	const struct stat *found = &output->place.status;
	int standard, result = output_place_find(output->path, &output->place, error);
	struct stat status;

	if (result)
		return result;
	if (!output->place.exists || S_ISREG(found->st_mode) || S_ISDIR(found->st_mode))
		return open_regular_file(output, error);
	/* The path leads to a device or a FIFO. */
	if (fstatat(output->place.folder, output->place.name, &status, 0))
		return set_output_write_error(output->path, -errno, error);
	standard = find_standard_stream(&status);
	result = standard < 0 ? open_special_file_of_trusted_user(output, &status)
			      : open_standard_stream(standard, output);
	if (result == -EPERM)
		return error_set(error, EPERM,
				 "%s: a FIFO or device of user %u, who could read what is written, "
				 "is left alone; '-o - >%s' writes it all the same",
				 output->path, status.st_uid, output->path);
	return result ? set_output_write_error(output->path, result, error) : 0;
}

int output_open(const char *path, enum output_kind kind, struct output *output,
		struct stackmap_error *error)
{
	struct output opened = {.fd = -1, .kind = kind, .place.folder = -1};
	bool standard = !strcmp(path, "-");
	int result;

	opened.path = strdup(standard ? "standard output" : path);
	if (!opened.path) {
		result = error_set_errno(error, ENOMEM, path);
	} else if (!standard) {
		result = open_named_output(&opened, error);
	} else {
		result = open_standard_stream(STDOUT_FILENO, &opened);
		if (result)
			set_output_write_error(opened.path, result, error);
	}
	if (result)
		output_close(&opened);
	else
		*output = opened;
	return result;
}

void output_wrap_descriptor(int fd, struct output *output)
{
	*output = (struct output){.fd = fd, .place.folder = -1};
}

static int link_file_as(const struct output *output, const char *name)
{
	char path[32];

	format_proc_path_of_output(output, path);
	return linkat(AT_FDCWD, path, output->place.folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

static int link_file_as_temporary(struct output *output)
{
	return link_file_as(output, output->temporary);
}

static int link_or_rename_file_to_output_name(struct output *output)
{
	int result = 0;

	if (!output->temporary[0]) {
		result = link_file_as(output, output->place.name);
		if (result != -EEXIST)
			return result;
		result = try_temporary_names(output, link_file_as_temporary);
	}
	if (result)
		return result;
	if (renameat(output->place.folder, output->temporary, output->place.folder,
		     output->place.name))
		return -errno;
	clear_temporary_name_without_unlink(output);
	return 0;
}

int output_publish(struct output *output, struct stackmap_error *error)
{
	const struct output_place *place = &output->place;
	char old[NAME_MAX + 1];
	int result = 0;

	if (!output->is_file || output->published)
		return 0;
	if (output->kind == OUTPUT_RECORDING) {
		/* The file that had the name before is kept as FILE.old. */
		if (!output_name_of_old_file(place, old))
			result = -ENAMETOOLONG;
		else if (renameat(place->folder, place->name, place->folder, old) &&
			 errno != ENOENT)
			result = -errno;
	}
	if (result)
		return error_set(error, -result, "%s: cannot be renamed to %s.old: %s",
				 output->path, output->path, strerror(-result));
	result = link_or_rename_file_to_output_name(output);
	if (result)
		return set_output_write_error(output->path, result, error);
	output->published = true;
	return 0;
}

/* Waits until the pipe has room for PIPE_BYTES bytes. */
static int wait_for_pipe_room(int fd)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	u64 last = 0;

	while (poll(&room, 1, POLL_MS) <= 0) {
		if (!is_end_requested())
			continue;
		last = last ?: clock_ms() + LAST_WAIT_MS;
		if (interrupted() || clock_ms() >= last)
			return -EINTR;
	}
	return 0;
}

static int write_all_bytes(const struct output *output, const u8 *data, size_t bytes)
{
	int result = 0;

	while (bytes && !result) {
		size_t part = output->waits && bytes > PIPE_BYTES ? PIPE_BYTES : bytes;
		ssize_t n;

		result = output->waits ? wait_for_pipe_room(output->fd) : 0;
		if (result)
			break;
		n = write(output->fd, data, part);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			result = -errno;
		data += n > 0 ? n : 0;
		bytes -= n > 0 ? n : 0;
	}
	return result;
}

int output_write(struct output *output, const void *data, size_t bytes)
{
	int err = write_all_bytes(output, data, bytes), cut;

	if (!err) {
		output->written += bytes;
	} else if (output->is_file) {
		/*
		 * Cuts the file back to whole blocks. If that fails, a partial block is left, which
		 * readers detect by its checksum.
		 */
		cut = ftruncate(output->fd, (off_t)output->written);
		(void)cut;
	}
	return err;
}

int output_close(struct output *output)
{
	int err = output->fd >= 0 && close(output->fd) ? -errno : 0;

	if (output->temporary[0])
		unlinkat(output->place.folder, output->temporary, 0);
	if (output->temporary[0])
		clear_temporary_name_without_unlink(output);
	output_place_close(&output->place);
	free(output->path);
	*output = (struct output){.fd = -1, .place.folder = -1};
	return err;
}
