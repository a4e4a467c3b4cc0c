/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of an instance that lives without a process: /sys/fs/bpf/stackmap/NAME, with the files
 * that people read, and pins/, which keeps everything else of it.
 *
 *   _new-NAME --commit--> NAME --remove--> _gone-NAME-PID --> nothing
 *
 * Each arrow is one rename(), so an instance is there or not, whenever somebody is killed. What is
 * left with another name then is swept by the next who locks the directory above
 * (capture/bpffs/root.h): nobody holds its lock.
 *
 * Two locks, which the kernel drops with their process: that of the folder, for whoever changes the
 * instance, and that of pins/, for whoever empties its rings.
 */
#ifndef LIB_CAPTURE_FOLDER_H
#define LIB_CAPTURE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "stackmap/error.h"

#define FOLDER_NAME_MAX 60
#define FOLDER_NO_GROUP ((gid_t)-1)

struct folder;

/* Begins an instance. -EINVAL: its name is not of [A-Za-z0-9_-]{1,60}, or begins with '_';
 * -EEXIST: there is one; -EBUSY: somebody else is about to. */
int folder_claim(const char *name, struct folder **out, struct stackmap_error *error);

/* The instance is complete. Its folder may then be entered by the group, if one is given. */
int folder_commit(struct folder *folder, gid_t group, struct stackmap_error *error);

/* -ENOENT: no such instance; -EACCES: it is another user's; -EPERM: it is of one who is neither
 * root nor we, so that anything could be in it. */
int folder_open(const char *name, struct folder **out, struct stackmap_error *error);

/* A folder that was claimed and not committed is removed. */
void folder_close(struct folder **folder);

/* Of any directory of the BPF file system; directories in it stay. */
void folder_remove_files(const char *path);

/* Removes what killed processes have left; the directory above is locked (capture/bpffs/root.h). */
void folder_sweep(void);

/* For who changes the instance, until the folder is closed. -EBUSY: somebody else does. */
int folder_lock(struct folder *folder, struct stackmap_error *error);

/* The same, after whoever else does; -EINTR. */
int folder_lock_wait(struct folder *folder, struct stackmap_error *error);

/* For the one who empties its rings, until the folder is closed. -EBUSY: another does. */
int folder_lock_reader(struct folder *folder, struct stackmap_error *error);

/* Whether it is still what its name leads to. */
bool folder_is_there(const struct folder *folder);

/* Removes all of it; locked by us. Detaching goes on in the kernel for a moment. */
int folder_remove(struct folder *folder, struct stackmap_error *error);

const char *folder_name(const struct folder *folder);

/* Where it is now, and what is pinned as `pin`: valid until the next call. */
const char *folder_path(const struct folder *folder);
const char *folder_pin_path(struct folder *folder, const char *pin);

/* Calls `each` for every pin that begins with `prefix`, in no order, until one returns not 0. */
int folder_pins(struct folder *folder, const char *prefix, int (*each)(void *arg, const char *pin),
		void *arg);

/* The instances that there are, in no order; ends as folder_pins(). Sweeps first. */
int folder_list(int (*each)(void *arg, const char *name), void *arg, struct stackmap_error *error);

#endif
