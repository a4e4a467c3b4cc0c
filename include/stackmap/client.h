/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user space of a tool whose BPF programs include stackmap/bpf.h: it becomes an instance on the
 * running engine, or begins the engine if it is the first.
 *
 *   bpf_object__open() -> stackmap_client_open() -> bpf_object__load() -> stackmap_client_start()
 *   -> the tool attaches its own programs ... and detaches them -> stackmap_client_close()
 *   -> bpf_object__close()
 *
 * One thread at a time, but for stackmap_client_find(). `error` may be NULL. Without an object or a
 * client (NULL), or a place for the result, close does nothing, and the others return -EINVAL.
 */
#ifndef STACKMAP_CLIENT_H
#define STACKMAP_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "stackmap/error.h"
#include "stackmap/stack_map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_object;
struct stackmap_client;

/*
 * Prepares an object that is open and not loaded: sizes of its maps, constants of its programs, and
 * maps of the engine in the place of its own. The stack map holds 2^bits stacks (stack_map.h).
 * Until start or close no other instance can begin. On failure the object can only be closed:
 * -ERANGE (bits), -EINVAL (the object does not include stackmap/bpf.h), -ENOMEM, or what the kernel
 * says.
 */
int stackmap_client_open(struct bpf_object *object, unsigned int bits, struct stackmap_client **out,
			 struct stackmap_error *error);

/* The object is loaded: attaches what serves tasks that exit. From now on programs may ask. */
int stackmap_client_start(struct stackmap_client *client, struct stackmap_error *error);

/* What an id of stackmap_get_id() stands for, as stackmap_map_find() says. Any thread, any time
 * between start and close. */
int stackmap_client_find(struct stackmap_client *client, uint32_t id, struct stackmap_stack *stack,
			 uint64_t *frames, uint32_t max);

/*
 * Where a user frame lies: the path of its file, empty for code without a file, and the offset in
 * it (for code without a file its address, without the upper 24 bits). -ENOENT: no frame of this
 * engine.
 */
int stackmap_client_place(const struct stackmap_client *client, uint64_t frame, char *path,
			  size_t path_bytes, uint64_t *offset);

/* Leaves the engine and sets *client to NULL; requests that wait are dropped. */
void stackmap_client_close(struct stackmap_client **client);

#ifdef __cplusplus
}
#endif
#endif
