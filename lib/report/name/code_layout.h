/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The segments of the ELF file of a mapping, derived from the functions of a recording: each
 * function has a file offset and the address that the file gives it. With the segments debug
 * information can be used when the file itself is gone.
 */
#ifndef LIB_REPORT_CODE_LAYOUT_H
#define LIB_REPORT_CODE_LAYOUT_H

#include "symbol/elf/elf_layout.h"
#include "trace/read/reader.h"

/* No segments if the recording has no addresses. Functions with equal address - offset form one
 * segment, with the code between them. */
void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout);

#endif
