/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that a runtime gives to the code it generates, in the format of perf's jitdump
 * (tools/perf/Documentation/jitdump-specification.txt of the kernel's source): a header, then
 * records that are appended as functions are generated or moved, with their code.
 *
 * What counts is what memory held last, as with a perf map. Where a function was before it moved it
 * keeps its name until another one is put there. Records have times, but frames have none: a stack
 * is recorded once. Not used are lines of source, for which a recording has no place, and unwind
 * tables, which are read from the process's own memory.
 */
#ifndef LIB_SYMBOL_JITDUMP_H
#define LIB_SYMBOL_JITDUMP_H

#include "generated_code.h"

#define JITDUMP_NAME_BYTES_MAX 65535

/*
 * Adds what an open file says. It may be written meanwhile: a record that is not there as a whole
 * yet is the end. Any bytes may be given; records that contradict themselves name nothing.
 *
 * 0; -ENOEXEC: no jitdump of this byte order and version; -ENOMEM; -E2BIG: more than
 * GENERATED_CODE_MAX functions; -errno of reading.
 */
int jitdump_read_open(int fd, struct generated_code *code);

#endif
