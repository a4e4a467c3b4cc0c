/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine: the BPF maps that all instances share, with mappings, unwind tables and state of
 * tasks (abi/deferral.h). The maps are pinned in /sys/fs/bpf/stackmap/_engine-N/ while they are
 * used, where N is ENGINE_VERSION; in a PID namespace in _engine-N-pid-NUMBER/.
 *
 * Each process that uses the engine holds a shared lock on its folder; the kernel drops the lock
 * when the process ends. A process that gets an exclusive lock is the only user: either the last
 * user, or the first user of pins that a killed process has left. The folder of an instance without
 * a process also counts as a user. Engines are made and removed under a lock on the root folder
 * (capture/bpffs/root.h).
 *
 * If the BPF file system is not writable, or the engine's maps have other sizes, an instance has
 * private maps of its own.
 *
 *   open -> use the maps in an object -> load the object -> publish -> close
 */
#ifndef LIB_CAPTURE_ENGINE_FOLDER_H
#define LIB_CAPTURE_ENGINE_FOLDER_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "scalar.h"

struct engine;

/* Opens the engine of a PID namespace, by the namespace's number (capture/load/pid_namespace.h).
 * Other processes cannot open the engine until engine_publish(). 0 or -ENOMEM. */
int engine_open(u32 pid_namespace, struct engine **out);

/* Makes an object that is not loaded yet use the engine's maps in place of its own. Without an
 * engine the object keeps its own maps, and 0 is returned. -errno: the object cannot be used any
 * more. */
int engine_use_maps_in_object(struct engine *engine, struct bpf_object *object);

/* Pins the maps of a loaded object if the engine has no maps yet, and lets other processes open the
 * engine. */
void engine_publish(struct engine *engine, const struct bpf_object *object);

void engine_close(struct engine **engine);

/* After engine_publish(): true if all instances share the maps; false: the maps are private. */
bool engine_is_shared(const struct engine *engine);

/* True if all instances share the map of this name. */
bool engine_shares_map(const char *map);

/* Removes engines without users. Called after an instance without a process has ended. */
void engine_remove_unused(void);

#endif
