/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stack ids and whole user stacks for the BPF programs of any tool, on the engine that stackmap's
 * own recordings use. Programs that request the same stack at the same time share one unwind, and
 * rules found for a file serve all tools.
 *
 * BPF has no libraries: this header brings maps and code into the tool's BPF object. One file of
 * the object includes it. The tool's user space passes the object to stackmap/client.h before it
 * loads the object. Compile with clang 14 or newer and these flags:
 *
 *   -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_x86 $(pkg-config --cflags stackmap-bpf)
 *   -idirafter /usr/include/x86_64-linux-gnu
 *
 * A stack is a struct stack (stack.h): frames innermost first; a user frame is a file's number and
 * an offset in the file (FRAME_MAPPING, FRAME_OFFSET), the same in every process.
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

/* Warnings that the tool has turned on are turned off for the code of this header. */
#pragma GCC system_header

#include "client_calls.h"

/*
 * Defined by the tool: receives the result for a cookie that stackmap_request() returned for this
 * thread. `stack` is NULL if there is no stack; `reason` then says why (enum stack_reason,
 * ledger.h). The stack is valid until the function returns. If the stack ends before its root, its
 * flags hold the reason (STACK_STOP).
 *
 * The function runs in the task: on the task's way to user mode, at its exit, when it begins
 * another program, or within stackmap_request() itself. The function must not sleep. It is called
 * once for each cookie, except for tasks that are still in the kernel when the tool ends.
 *
 * Thread ids are the kernel's own, as bpf_get_current_pid_tgid() returns them, also if the tool
 * runs in a PID namespace.
 */
static void stackmap_answer(u32 tid, u32 cookie, struct stack *stack, u32 reason);

/*
 * Returns the id (> 0, 32 bits) of a stack in the tool's own stack map and adds one reference to
 * the stack. The caller sets `depth` and `flags`: 0 for kernel frames, STACK_USER for user frames.
 * The frames are packed in place (stack.h). -EINVAL: the stack has no frames. -ENOSPC: the stack is
 * new, and the map is full.
 */
static s64 stackmap_get_id(struct stack *stack);

/*
 * Requests the user stack of the current task and returns its cookie (> 0, 32 bits). All requests
 * in the same entry into the kernel get the same cookie, until the stack is delivered. The thread
 * id and the cookie together are unique. -EINVAL: the task has no user memory (a kernel thread, or
 * past its exit), or it is within execve and the old stack is gone. -ENOMEM: no room for the task's
 * state. -EOPNOTSUPP: the kernel has no task work.
 */
static s64 stackmap_request(void);

/*
 * Drops this tool's pending request of a thread; requests of other tools stay. 0, or -ENOENT: no
 * request was pending. A later request in the same entry may get another cookie.
 */
static s32 stackmap_cancel(u32 tid);

/*
 * Unwinds the user stack of the current task at once, into *stack, which lies in a map's value, and
 * returns the depth. The walk may fault and sleep. -EINVAL: the task has no user memory. -ENOMEM:
 * too many stacks are being unwound at once.
 */
static s64 stackmap_unwind(struct stack *stack);

#endif
