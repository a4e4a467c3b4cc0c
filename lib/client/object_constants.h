/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Constants of BPF programs that have no skeleton, by name. */
#ifndef LIB_CLIENT_OBJECT_CONSTANTS_H
#define LIB_CLIENT_OBJECT_CONSTANTS_H

#include <bpf/libbpf.h>
#include <stddef.h>

/* Gives a constant of an object that is not loaded yet its value. -EINVAL: the object has none of
 * this name and size; -ENOMEM. */
int object_constant_set(const struct bpf_object *object, const char *name, const void *value,
			size_t bytes);

#endif
