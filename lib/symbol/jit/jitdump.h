/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of generated code in the format of perf's jitdump
 * (tools/perf/Documentation/jitdump-specification.txt of the kernel's source): a header, then
 * records that the runtime appends as it generates or moves functions, with their code.
 *
 * The last function at an address counts, as with a perf map. The old place of a moved function
 * keeps its name until another function overlaps it. Times of records are not used, as frames have
 * no time: a stack is recorded once. Lines of source are not used either, since a recording does
 * not store them, nor unwind tables, which are read from the memory of the process.
 */
#ifndef LIB_SYMBOL_JITDUMP_H
#define LIB_SYMBOL_JITDUMP_H

#include "generated_code.h"

#define JITDUMP_NAME_BYTES_MAX 65535

/*
 * Adds the functions of an open file. The runtime may still write to it: the first incomplete
 * record is the end. The file may hold any bytes; records that contradict themselves give no name.
 *
 * 0; -ENOEXEC: not a jitdump of this byte order and version; -ENOMEM; -E2BIG: more than
 * GENERATED_CODE_MAX functions; -errno of reading.
 */
int jitdump_read_open(int fd, struct generated_code *code);

#endif
