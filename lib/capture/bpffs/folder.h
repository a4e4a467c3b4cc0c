/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of an instance without a process, /sys/fs/bpf/stackmap/NAME, has the instance's
 * readable files, and the subfolder pins/ with all other parts of the instance.
 *
 *   _new-NAME --commit--> NAME --remove--> _gone-NAME-PID --> removed
 *
 * Each step is one rename(), so an instance either exists or not, even if a process is killed
 * between steps. A folder _new-NAME or _gone-NAME-PID that a killed process has left has no lock,
 * and the next process that locks the root (capture/bpffs/root.h) removes the folder.
 *
 * There are two locks, which the kernel drops when their process ends: the process that changes the
 * instance holds the lock of the folder, the process that empties the rings (the reader) holds the
 * lock of pins/.
 */
#ifndef LIB_CAPTURE_FOLDER_H
#define LIB_CAPTURE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "stackmap/error.h"

#define FOLDER_NAME_MAX 60
#define FOLDER_NO_GROUP ((gid_t)-1)

struct folder;

/* Makes the folder _new-NAME of a new instance. -EINVAL: the name is not [A-Za-z0-9_-]{1,60}, or
 * begins with '_'; -EEXIST: the instance exists; -EBUSY: another process is starting an instance of
 * this name. */
int folder_create_and_lock(const char *name, struct folder **out, struct stackmap_error *error);

/* Renames the folder to NAME: the instance exists now. The members of `group` may enter the folder;
 * FOLDER_NO_GROUP: no group may. */
int folder_publish_with_group(struct folder *folder, gid_t group, struct stackmap_error *error);

/* Opens the folder of an instance. -ENOENT: no such instance; -EACCES: another user's instance;
 * -EPERM: the folder belongs to another user than root and this user, and is not trusted. */
int folder_open(const char *name, struct folder **out, struct stackmap_error *error);

/* Closes a folder. A folder that this process has made and not published is removed. */
void folder_close(struct folder **folder);

/* Removes the files of a directory of the BPF file system; its subdirectories stay. */
void folder_remove_files(const char *path);

/* Removes the folders that killed processes have left. The root must be locked
 * (capture/bpffs/root.h). */
void folder_remove_abandoned(void);

/* Takes the lock for changing the instance, until the folder is closed. -EBUSY: another process
 * holds the lock. */
int folder_lock(struct folder *folder, struct stackmap_error *error);

/* Takes the lock for changing the instance; waits while another process holds it. -EINTR. */
int folder_lock_wait(struct folder *folder, struct stackmap_error *error);

/* Takes the lock of the reader, until the folder is closed. -EBUSY: another process holds the lock.
 */
int folder_lock_reader(struct folder *folder, struct stackmap_error *error);

/* True if the instance was not removed or replaced since the folder was opened. */
bool folder_still_exists(const struct folder *folder);

/* Removes the folder of an instance that this process has locked. The kernel detaches the
 * instance's programs a moment later. */
int folder_remove(struct folder *folder, struct stackmap_error *error);

const char *folder_name(const struct folder *folder);

/* Return the path of the folder, and the path of a pin in pins/, which is valid until the next
 * call. */
const char *folder_path(const struct folder *folder);
const char *folder_pin_path(struct folder *folder, const char *pin);

/* Calls each() for all pins whose names begin with `prefix`, in no order. Stops at the first
 * non-zero return and returns it. */
int folder_each_pin(struct folder *folder, const char *prefix,
		    int (*each)(void *arg, const char *pin), void *arg);

/* Calls folder_remove_abandoned(), and then each() for all instances, in no order. Stops at the
 * first non-zero return and returns it. */
int folder_each_instance(int (*each)(void *arg, const char *name), void *arg,
			 struct stackmap_error *error);

#endif
