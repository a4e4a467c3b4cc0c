/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stack ids and whole user stacks for the BPF programs of any tool, on the engine that stackmap's
 * own recordings use: who asks for the same stack at the same time gets the result of one unwind,
 * and what one has learned of a file serves all.
 *
 * BPF has no libraries: this header brings maps and code into the one object of the tool, and is
 * included in one file of it. Its user space gives that object to stackmap/client.h before it loads
 * it. It takes clang 14 or newer, and these flags:
 *
 *   -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_x86 $(pkg-config --cflags stackmap-bpf)
 *   -idirafter /usr/include/x86_64-linux-gnu
 *
 * A stack is a struct stack (stack.h): frames innermost first; a user frame is a file's number and
 * an offset in it (FRAME_MAPPING, FRAME_OFFSET), the same in every process.
 *
 * | call             | programs                          | needs                        |
 * |------------------|-----------------------------------|------------------------------|
 * | stackmap_get_id  | any, NMI included                 | 6.1                          |
 * | stackmap_request | any, NMI included                 | 6.18 (task work)             |
 * | stackmap_cancel  | any                               |                              |
 * | stackmap_unwind  | that may sleep                    | 6.1                          |
 */
#ifndef STACKMAP_BPF_H
#define STACKMAP_BPF_H

#pragma GCC system_header /* the tool's warnings are not for the code that comes with it */

#include "client_calls.h"

/*
 * The tool's: the answer to a cookie that stackmap_request() gave for this thread. `stack` is NULL
 * where there is none, `reason` says why (enum stack_reason, ledger.h). The stack is the tool's
 * until it returns; a place for frames that were not found is in its flags (STACK_STOP).
 *
 * Runs in the task: on its way to user mode, as it exits, as it begins another program, or within
 * stackmap_request() itself. It must not sleep. Each cookie is answered once, but for those of
 * tasks that have not left the kernel when the tool ends.
 *
 * Thread ids are the kernel's own, as of bpf_get_current_pid_tgid(), also if the tool runs in a PID
 * namespace.
 */
static void stackmap_answer(u32 tid, u32 cookie, struct stack *stack, u32 reason);

/*
 * The id (> 0, 32 bits) of a stack in the tool's own stack map, which counts one more reference to
 * it. `depth` and `flags` of the stack are set: 0 for kernel frames, STACK_USER for user frames.
 * The frames are packed in place (stack.h). -EINVAL: no frames. -ENOSPC: it is new, and the map is
 * full.
 */
static s64 stackmap_get_id(struct stack *stack);

/*
 * Asks for the user stack of the current task. The cookie (> 0, 32 bits) names it: all requests in
 * the same entry into the kernel get the same one, until it is answered. With the thread's id it is
 * unique. -EINVAL: it has no user memory (a kernel thread, or past its exit), or it is within
 * execve and that stack is gone. -ENOMEM: no room for the task's state. -EOPNOTSUPP: the kernel has
 * no task work.
 */
static s64 stackmap_request(void);

/*
 * Nobody waits for the answer of a thread any more: the pending request of this tool is dropped,
 * and no other's. 0, or -ENOENT: there was none. A later request of the same entry may get another
 * cookie.
 */
static s32 stackmap_cancel(u32 tid);

/*
 * The user stack of the current task, now: its depth, and *stack, which lies in a map's value. It
 * reads with faults. -EINVAL: the task has no user memory. -ENOMEM: too many are unwinding at once.
 */
static s64 stackmap_unwind(struct stack *stack);

#endif
