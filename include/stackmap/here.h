/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call stack of the calling thread, without frame pointers.
 *
 * The function may be called in any context that a signal handler may run in: it takes no lock,
 * allocates nothing, leaves errno alone, and reads memory only in ways that cannot fault, so a
 * damaged stack gives a short result and no crash. Frames of signal handlers on the stack are
 * followed to the code that they interrupted.
 *
 * The price is time: two to seven microseconds a frame, most of them in system calls that read
 * memory. The function needs about 14 KiB of the caller's stack: give signal handlers an alternate
 * stack with room for it. A program must not dlclose() code that is on its own stack.
 */
#ifndef STACKMAP_HERE_H
#define STACKMAP_HERE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STACKMAP_HERE_DEPTH_MAX 510

/*
 * Writes the addresses of at most `max` frames, innermost first. frames[0] is the return address of
 * this call in the caller; each further frame is the return address in the next outer function. The
 * frame of a function that a signal interrupted is the address of the interrupted instruction plus
 * one byte, and the frame of the code that a signal handler returns to is the address of that code
 * plus one byte: the byte before a frame always belongs to the frame's function. Returns the number
 * of frames: at least 1, at most `max` and STACKMAP_HERE_DEPTH_MAX.
 *
 * -EINVAL: `max` is below 1. -ENOSYS, -EPERM: the system call process_vm_readv() is refused, for
 * example by a seccomp filter. -EFAULT: not even the caller's frame could be found.
 */
int stackmap_here(uint64_t *frames, int max);

#ifdef __cplusplus
}
#endif
#endif
