/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user space of a tool whose BPF programs include stackmap/bpf.h. The tool becomes an instance
 * on the running engine, or starts the engine if it is the first instance.
 *
 *   bpf_object__open() -> stackmap_client_open() -> bpf_object__load() -> stackmap_client_start()
 *   -> the tool attaches its own programs ... and detaches them -> stackmap_client_close()
 *   -> bpf_object__close()
 *
 * One thread at a time, except for stackmap_client_find(). `error` may be NULL. If the object, the
 * client or a place for the result is NULL, close does nothing, and the others return -EINVAL.
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
 * Prepares an object that is open and not loaded: sets the sizes of its maps and the constants of
 * its programs, and replaces the object's engine maps by those of the running engine. The stack map
 * holds 2^bits stacks (stack_map.h). Until start or close, no other instance can begin. After a
 * failure the object can only be closed: -ERANGE (bits), -EINVAL (the object does not include
 * stackmap/bpf.h), -ENOMEM, or an error of the kernel.
 */
int stackmap_client_open(struct bpf_object *object, unsigned int bits, struct stackmap_client **out,
			 struct stackmap_error *error);

/*
 * Call after the object is loaded: attaches the programs that serve exiting tasks. From then on the
 * tool's programs may request stacks.
 */
int stackmap_client_start(struct stackmap_client *client, struct stackmap_error *error);

/*
 * Looks up the stack of an id that stackmap_get_id() returned; the results are those of
 * stackmap_map_find(). Any thread may call this function, at any time between start and close.
 */
int stackmap_client_find(struct stackmap_client *client, uint32_t id, struct stackmap_stack *stack,
			 uint64_t *frames, uint32_t max);

/*
 * Gives the path of the file that the code of a user frame is in, and the offset in the file. For
 * code without a file the path is empty, and the offset is the address without its upper 24 bits.
 * -ENOENT: the frame is not of this engine.
 */
int stackmap_client_place(const struct stackmap_client *client, uint64_t frame, char *path,
			  size_t path_bytes, uint64_t *offset);

/* Leaves the engine and sets *client to NULL. Pending requests are dropped. */
void stackmap_client_close(struct stackmap_client **client);

#ifdef __cplusplus
}
#endif
#endif
