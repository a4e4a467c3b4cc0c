/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps that all instances share (abi/deferral.h), pinned in /sys/fs/bpf/stackmap/_engine-N/ as
 * long as they are used, N being ENGINE_VERSION; in a PID namespace in _engine-N-pid-NUMBER/.
 *
 * Each user holds a shared lock on the folder, which the kernel drops with the process. A process
 * that gets an exclusive lock is the only user: the last one, or a new one beside pins that a
 * killed process has left. An instance without a process has a folder beside the engine's, which
 * counts as a user. Engines are made and removed under a lock on the root folder.
 *
 * Without a writable BPF file system, or beside an engine with other sizes, an instance has maps of
 * its own, which it does not share.
 *
 *   open -> lend -> load the object -> publish -> close
 */
#ifndef LIB_CAPTURE_ENGINE_FOLDER_H
#define LIB_CAPTURE_ENGINE_FOLDER_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "scalar.h"

struct engine;

/* Opens the engine of a PID namespace, by its number (capture/load/pid_namespace.h). Other
 * processes cannot open it until it is published. 0 or -ENOMEM. */
int engine_open(u32 pid_namespace, struct engine **out);

/* Puts the engine's maps in place of those of an object that is not loaded yet; 0 also without an
 * engine. -errno: the object cannot be used any more. */
int engine_lend_maps(struct engine *engine, struct bpf_object *object);

/* Pins the maps of a loaded object, if the engine has no maps yet. */
void engine_publish(struct engine *engine, const struct bpf_object *object);

void engine_close(struct engine **engine);

/* After engine_publish(): true if the maps are those of all instances, not of this one alone. */
bool engine_is_shared(const struct engine *engine);

/* True if all instances share the map of this name. */
bool engine_shares_map(const char *map);

/* Removes unused engines; to be called after an instance without a process has ended. */
void engine_remove_unused(void);

#endif
