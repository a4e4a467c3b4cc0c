/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The path of a record was right when the program met the mapping. Later the path may name another
 * file, a FIFO or a device, and the process may be gone. The path is therefore first opened with
 * O_PATH, which has no effect on the file; the file's identity and the time of its last write are
 * compared with the record; then this same file is opened for reading.
 *
 * The path of a record consists of the kernel's directory entries, so no part of it is a symbolic
 * link. RESOLVE_NO_SYMLINKS keeps links of a container from leading out of its root,
 * RESOLVE_IN_ROOT does the same for "..".
 */
#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file_place.h"
#include "mapping.h"
#include "symbol/elf/file_identity.h"
#include "symbol/elf/vdso.h"

#define KERNEL_DEVICE(device) ((u64)major(device) << 20 | minor(device))

/* True if device, inode and the time of the last write are those of the record. */
static bool is_file_of_mapping_key(int fd, const struct mapping_key *key)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_ino == key->inode &&
	       FILE_WRITTEN(stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec) == key->since &&
	       (KERNEL_DEVICE(stat.st_dev) == key->device || does_file_system_hide_device(fd));
}

/* An inode number is used again after its file is gone, with another generation. Not every file
 * system gives generations. */
static bool is_same_generation(int fd, const struct mapping_key *key)
{
	u32 generation = 0;

	return ioctl(fd, FS_IOC_GETVERSION, &generation) || !generation || !key->generation ||
	       generation == key->generation;
}

bool is_file_of_mapping_record(int fd, const struct mapping_record *record)
{
	return is_file_of_mapping_key(fd, &record->key) && is_same_generation(fd, &record->key);
}

/* Opens the file of the O_PATH descriptor `place` for reading, if it is the file of the record.
 * Closes `place`, which may be negative. */
static int open_if_same_file(int place, const struct mapping_key *key)
{
	int fd = -1;

	if (place < 0)
		return -ENOENT;
	if (is_file_of_mapping_key(place, key))
		fd = file_place_open_for_reading(place);
	close(place);
	if (fd >= 0 && is_same_generation(fd, key))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

/* Does the same as is_file_of_mapping_key(), with what the kernel has cached of the inode: the file
 * system is not asked. */
static bool is_same_cached_file(int place, const struct mapping_key *key)
{
	const u32 wanted = STATX_TYPE | STATX_INO | STATX_MTIME;
	struct statx file;

	if (statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &file) ||
	    (file.stx_mask & wanted) != wanted)
		return false;
	return S_ISREG(file.stx_mode) && file.stx_ino == key->inode &&
	       ((u64)file.stx_dev_major << 20 | file.stx_dev_minor) == key->device &&
	       FILE_WRITTEN(file.stx_mtime.tv_sec, file.stx_mtime.tv_nsec) == key->since;
}

int mapped_file_open_cached(const struct mapping_record *record, const char *path)
{
	int place, fd = -ENOENT;

	if (record->key.kind != MAPPING_FILE || path[0] != '/')
		return -ENOENT;
	place = file_place_open_if_cached(path);
	if (place < 0)
		return -ENOENT;
	if (is_same_cached_file(place, &record->key))
		fd = open_if_same_file(place, &record->key);
	else
		close(place);
	return fd;
}

int mapped_file_open(const struct mapping_record *record, const char *path)
{
	bool is_absolute = path[0] == '/';
	char proc[96];
	int fd = -ENOENT;

	if (record->key.kind != MAPPING_FILE)
		return -ENOENT;
	if (is_absolute) {
		snprintf(proc, sizeof(proc), "/proc/%u/root", record->tgid);
		fd = open_if_same_file(file_place_open_below_root(proc, path), &record->key);
	}
	if (fd < 0) {
		snprintf(proc, sizeof(proc), "/proc/%u/map_files/%llx-%llx", record->tgid,
			 (unsigned long long)record->start, (unsigned long long)record->end);
		fd = open_if_same_file(open(proc, O_PATH | O_CLOEXEC), &record->key);
	}
	if (fd < 0 && is_absolute)
		fd = open_if_same_file(file_place_open_below_root("/", path), &record->key);
	return fd;
}

int mapped_file_build_id(int fd, u8 *build_id)
{
	Elf *elf;
	int bytes;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -EIO;
	bytes = elf_kind(elf) == ELF_K_ELF ? build_id_from_elf(elf, build_id) : -ENOEXEC;
	elf_end(elf);
	return bytes;
}

/* Joins the components of a path. The record has the innermost component first, so the path is
 * written from its end. False: the components do not make a path, or the path is too long. */
static bool join_components(const struct mapping_record *record, char *path, size_t path_bytes)
{
	const char *name = (const char *)record->path;
	const char *end = name + record->path_bytes;
	size_t at = path_bytes - 1;

	path[at] = 0;
	while (name < end) {
		size_t length = strnlen(name, end - name);

		if (name + length == end || !length || memchr(name, '/', length) ||
		    !strcmp(name, ".") || !strcmp(name, "..") || length + 1 > at)
			return false;
		at -= length;
		memcpy(path + at, name, length);
		path[--at] = '/';
		name += length + 1;
	}
	memmove(path, path + at, path_bytes - at);
	return true;
}

void mapped_file_path(const struct mapping_record *record, char *path, size_t path_bytes)
{
	size_t length;

	path[0] = 0;
	if (path_bytes < 8 || record->path_bytes > sizeof(record->path) ||
	    !join_components(record, path, path_bytes)) {
		path[0] = 0;
		return;
	}
	if (record->path_whole)
		return;
	/* A path that has lost its outer components begins with "...", so it is not absolute. */
	length = strlen(path);
	if (length + 4 > path_bytes)
		length = path_bytes - 4;
	memmove(path + 3, path, length);
	memcpy(path, "...", 3);
	path[length + 3] = 0;
}

/* Copies the build id that the BPF programs have read from the mapping. */
static void copy_build_id(const struct mapping_record *record, struct trace_mapping *mapping)
{
	u32 bytes = __atomic_load_n(&record->build_id_bytes, __ATOMIC_ACQUIRE);

	_Static_assert(MAPPING_BUILD_ID_MAX <= TRACE_BUILD_ID_MAX, "the mapping has room");
	if (bytes > MAPPING_BUILD_ID_MAX)
		return;
	memcpy(mapping->build_id, record->build_id, bytes);
	mapping->build_id_bytes = bytes;
}

/* Sets the build id of a mapping of the vdso, which the record marks by inode 0: that of this
 * process's vdso, which 64-bit tasks have. The vdso of 32-bit tasks stays without a build id. */
static void identify_vdso(const struct mapping_record *record, struct trace_mapping *mapping)
{
	Elf *elf = record->key.inode || mapping->build_id_bytes ? NULL : vdso_open();

	if (!elf)
		return;
	mapping->build_id_bytes = build_id_from_elf(elf, mapping->build_id);
	elf_end(elf);
}

u32 process_and_base_of_generated_code(const struct mapping_record *record, u64 *base)
{
	*base = (record->key.inode & 0xffffff) << 40;
	return record->key.inode >> 24;
}

void mapped_file_identify(u32 number, const struct mapping_record *record,
			  struct trace_mapping *mapping, char *path, size_t path_bytes)
{
	*mapping = (struct trace_mapping){
		.number = number,
		.kind = record->key.kind,
		.tgid = record->tgid,
		.path = path,
	};
	copy_build_id(record, mapping);
	switch (record->key.kind) {
	case MAPPING_FILE:
		mapped_file_path(record, path, path_bytes);
		break;
	case MAPPING_VDSO:
		snprintf(path, path_bytes, "[vdso]");
		identify_vdso(record, mapping);
		break;
	default:
		snprintf(path, path_bytes, "[anon]");
		mapping->tgid = process_and_base_of_generated_code(record, &mapping->base);
	}
}

/* /proc/PID belongs to the user of the process; stat() on it takes no lock of the process. */

u64 file_owner_of_process(u32 tgid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tgid);
	if (stat(path, &status))
		return FILE_OWNER_NONE;
	/* The kernel gives root as the owner of a process that is just ending. */
	return status.st_uid || !access(path, F_OK) ? status.st_uid : FILE_OWNER_NONE;
}

u64 file_owner(const struct mapping_record *record)
{
	u64 base;

	if (record->key.kind == MAPPING_ANON)
		return file_owner_of_process(process_and_base_of_generated_code(record, &base));
	if (record->key.kind != MAPPING_FILE)
		return FILE_OWNER_ROOT;
	if (is_file_system_of_other_user(record->file_system))
		return FILE_OWNER_MOUNT | record->key.device;
	return record->owner;
}

bool file_owner_trusted(u64 owner)
{
	return owner == FILE_OWNER_KERNEL || owner == FILE_OWNER_TABLES ||
	       owner == FILE_OWNER_ANALYSES || owner == FILE_OWNER_ROOT || owner == geteuid();
}
