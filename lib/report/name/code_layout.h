/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the code of a mapping lies in its ELF file, from the functions of a recording: each has a
 * file offset and the address that the file itself gives it. With that, debug information is of use
 * where the file is gone.
 */
#ifndef LIB_REPORT_CODE_LAYOUT_H
#define LIB_REPORT_CODE_LAYOUT_H

#include "symbol/elf/elf_segment.h"
#include "trace/read/reader.h"

/* No segments where the recording does not tell. Functions with one slide between offset and
 * address are one segment, with what lies between them. */
void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout);

#endif
