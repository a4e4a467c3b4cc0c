/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of an instance without a process: /sys/fs/bpf/stackmap/NAME, with the files that
 * people read, and pins/, which keeps all other parts of the instance.
 *
 *   _new-NAME --commit--> NAME --remove--> _gone-NAME-PID --> removed
 *
 * Each step is one rename(), so an instance either exists or not, even if a process is killed
 * between steps. A folder that a killed process has left under another name has no lock, and the
 * next process that locks the root (capture/bpffs/root.h) removes it.
 *
 * The kernel drops both locks with their process: the lock of the folder, for the process that
 * changes the instance, and the lock of pins/, for the process that empties its rings.
 */
#ifndef LIB_CAPTURE_FOLDER_H
#define LIB_CAPTURE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "stackmap/error.h"

#define FOLDER_NAME_MAX 60
#define FOLDER_NO_GROUP ((gid_t)-1)

struct folder;

/* Begins an instance. -EINVAL: the name is not [A-Za-z0-9_-]{1,60}, or begins with '_'; -EEXIST:
 * the instance exists; -EBUSY: another process is starting it. */
int folder_claim(const char *name, struct folder **out, struct stackmap_error *error);

/* Completes an instance. A group, if given, may then enter its folder. */
int folder_commit(struct folder *folder, gid_t group, struct stackmap_error *error);

/* Opens an instance. -ENOENT: no such instance; -EACCES: another user's instance; -EPERM: the
 * folder belongs to a user other than root and us, and is not trusted. */
int folder_open(const char *name, struct folder **out, struct stackmap_error *error);

/* Closes a folder, and removes it if it was claimed and not committed. */
void folder_close(struct folder **folder);

/* Removes the files of a directory of the BPF file system; its subdirectories stay. */
void folder_remove_files(const char *path);

/* Removes folders that killed processes have left. The root must be locked (capture/bpffs/root.h).
 */
void folder_remove_abandoned(void);

/* Takes the lock for changes, until the folder is closed. -EBUSY: another process holds it. */
int folder_lock(struct folder *folder, struct stackmap_error *error);

/* The same, but waits for another process. -EINTR. */
int folder_lock_wait(struct folder *folder, struct stackmap_error *error);

/* Takes the lock of the reader, until the folder is closed. -EBUSY: another process holds it. */
int folder_lock_reader(struct folder *folder, struct stackmap_error *error);

/* True if the open folder is still the folder of its name. */
bool folder_still_exists(const struct folder *folder);

/* Removes an instance that this process has locked. The kernel detaches its programs a moment
 * later.
 */
int folder_remove(struct folder *folder, struct stackmap_error *error);

const char *folder_name(const struct folder *folder);

/* The path of the folder, and the path of a pin, which is valid until the next call. */
const char *folder_path(const struct folder *folder);
const char *folder_pin_path(struct folder *folder, const char *pin);

/* Calls each() for all pins whose names begin with `prefix`, in no order. Stops at the first
 * non-zero return and returns it. */
int folder_each_pin(struct folder *folder, const char *prefix,
		    int (*each)(void *arg, const char *pin), void *arg);

/* Calls each() for all instances, in no order, after folder_remove_abandoned(). Stops as
 * folder_each_pin() does.
 */
int folder_each_instance(int (*each)(void *arg, const char *name), void *arg,
			 struct stackmap_error *error);

#endif
