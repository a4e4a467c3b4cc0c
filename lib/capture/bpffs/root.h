/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of the BPF file system in which engine and instances have their folders. */
#ifndef LIB_CAPTURE_ROOT_H
#define LIB_CAPTURE_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#define ROOT_BPFFS "/sys/fs/bpf"
#define ROOT ROOT_BPFFS "/stackmap"

/* Who was stopped while it held the lock must not stop the others for ever; but a start holds it
 * while the kernel verifies its programs, which takes seconds on a machine under load. */
#define ROOT_MS 60000
#define ROOT_MS_OPTIONAL 5000 /* for who can do without */
#define ROOT_MS_ENDING 1000   /* for who is about to end: whoever ends later tidies up */

/*
 * Makes what is missing of it, the mount included, and locks it: a descriptor, whose close()
 * unlocks, or -errno. -EAGAIN: somebody held it for so long; -EINTR; -EPERM: it belongs to another
 * user. Folders appear, change their names and go only under this lock.
 */
int root_lock(int ms);

/* Removes it if it is empty, and unlocks; nothing below 0. */
void root_unlock(int root);

/* Whether what belongs to this user counts: root and we ourselves are trusted. */
bool root_trusts(uid_t owner);

/* Whether there is an instance, which may have no process. */
bool root_has_instances(void);

#endif
