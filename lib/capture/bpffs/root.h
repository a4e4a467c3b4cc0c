/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of the BPF file system with the folders of engine and instances. */
#ifndef LIB_CAPTURE_ROOT_H
#define LIB_CAPTURE_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#define ROOT_BPFFS "/sys/fs/bpf"
#define ROOT ROOT_BPFFS "/stackmap"

/* Waits for the lock are bounded, as its holder may be stopped. A start holds the lock while the
 * kernel verifies its programs, which takes seconds on a busy machine. */
#define ROOT_MS 60000
#define ROOT_MS_OPTIONAL 5000 /* for a process that can go on without the lock */
#define ROOT_MS_ENDING 1000   /* for a process that ends: a later one cleans up */

/*
 * Makes the directory, mounts the BPF file system if necessary, and takes the lock: a descriptor,
 * whose close() unlocks, or -errno. -EAGAIN: another process held the lock for `ms`; -EINTR;
 * -EPERM: the directory belongs to another user. Folders are made, renamed and removed only under
 * this lock.
 */
int root_lock(int ms);

/* Removes the directory if it is empty, and unlocks; a negative `root` is ignored. */
void root_unlock(int root);

/* True for root and this user. With the usual mode of the BPF file system any user can make folders
 * there, so folders of other users are not trusted. */
bool root_trusts_owner(uid_t owner);

/* True if an instance exists. */
bool root_has_instances(void);

#endif
