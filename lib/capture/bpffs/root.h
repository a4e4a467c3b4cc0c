/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The root: the directory in the BPF file system that has the folders of the engine and of
 * instances. */
#ifndef LIB_CAPTURE_ROOT_H
#define LIB_CAPTURE_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#define ROOT_BPFFS "/sys/fs/bpf"
#define ROOT ROOT_BPFFS "/stackmap"

/* Waits for the root's lock have a limit, since the process that holds the lock may be stopped
 * (SIGSTOP). A process that starts an instance holds the lock while the kernel verifies the
 * programs, which takes seconds on a busy machine. */
#define ROOT_MS 60000
/* Longest wait for the root's lock, ms, in a process that can go on without the lock. */
#define ROOT_MS_OPTIONAL 5000
/* Longest wait for the root's lock, ms, in a process that ends; a later process can clean up
 * instead. */
#define ROOT_MS_ENDING 1000

/*
 * Makes the root directory, mounts the BPF file system if necessary, and locks the directory.
 * Returns a descriptor, whose close() unlocks, or -errno. -EAGAIN: another process held the lock
 * for `ms`; -EINTR; -EPERM: the directory belongs to another user. Folders are made, renamed and
 * removed only under this lock.
 */
int root_make_and_lock(int ms);

/* Removes the root directory if it is empty, and unlocks it; a negative `root` is ignored. */
void root_remove_if_empty_and_unlock(int root);

/* True if the owner of a folder is root or this user. With the usual mode of the BPF file system
 * any user can make folders there, so folders of other users are not trusted. */
bool root_trusts_owner(uid_t owner);

/* True if an instance without a process exists. */
bool root_has_instances(void);

#endif
