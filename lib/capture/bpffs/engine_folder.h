/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps that all instances share (abi/engine.h), pinned in /sys/fs/bpf/stackmap/_engine-8/ as
 * long as anybody uses them; in a PID namespace in _engine-8-pid-NUMBER/.
 *
 * Who uses them holds a shared lock on the folder, which the kernel drops with the process. So the
 * last user, and a newcomer who finds what a killed one left behind, know by an exclusive lock that
 * they are alone. An instance without a process has a folder beside it, which tells the same.
 * Making and removing happens under a lock on the folder above.
 *
 * Without a BPF file system that we may write to, or beside an engine of other sizes, an instance
 * has its own maps: it works as well, but shares nothing.
 *
 *   open -> lend -> load the object -> publish -> close
 */
#ifndef LIB_CAPTURE_ENGINE_FOLDER_H
#define LIB_CAPTURE_ENGINE_FOLDER_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "scalar.h"

struct engine;

/* That of a PID namespace, by its number (capture/load/pid_namespace.h). Nobody else can open it
 * until it is published. -ENOMEM. */
int engine_open(u32 pid_namespace, struct engine **out);

/* Maps of the running engine take the place of the object's, which is not loaded yet. 0 also if
 * there are none to lend; -errno: the object is spoilt. */
int engine_lend(struct engine *engine, struct bpf_object *object);

/* The object is loaded. Its maps become those of the engine, if it has none yet. */
void engine_publish(struct engine *engine, const struct bpf_object *object);

void engine_close(struct engine **engine);

/* Once it is published: whether its maps are those of all instances, or of this one alone. */
bool engine_is_shared(const struct engine *engine);

/* Whether this map is one that all instances share. */
bool engine_shares(const char *map);

/* For those who ended an instance that had no process: removes engines that nobody uses. */
void engine_sweep(void);

#endif
