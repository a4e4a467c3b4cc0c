/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is in a BPF ring buffer, to be looked at and left there. Taking it is libbpf's. */
#ifndef LIB_CAPTURE_RAW_RING_H
#define LIB_CAPTURE_RAW_RING_H

#include <stddef.h>

#include "scalar.h"

/* Every record that is whole now, oldest first, of the buffer `fd` of so many bytes. Stops at the
 * first that is not 0, which it returns. Nobody takes records meanwhile, or some may be missed. */
int raw_ring_each(int fd, u64 bytes, int (*each)(void *arg, void *data, size_t bytes), void *arg);

#endif
