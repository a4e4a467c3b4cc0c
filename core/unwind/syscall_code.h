/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The instruction of a system call, as a little-endian number. */
#ifndef CORE_SYSCALL_CODE_H
#define CORE_SYSCALL_CODE_H

#define SYSCALL_CODE 0x050f
#define SYSCALL_BYTES 2

#endif
