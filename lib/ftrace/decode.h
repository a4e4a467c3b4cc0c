/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decodes records of the ring to entries, by the kernel's format descriptions. */
#ifndef LIB_FTRACE_DECODE_H
#define LIB_FTRACE_DECODE_H

#include "ftrace/entry.h"

struct ftrace_decoder;
struct tep_handle;
struct tep_record;

/* -ENOMEM. The handle must outlive the decoder. */
int ftrace_decoder_create(struct tep_handle *formats, ftrace_take *take, void *arg,
			  struct ftrace_decoder **out);
void ftrace_decoder_free(struct ftrace_decoder **decoder);

/* Records of a CPU come in the order of its ring. -EBADMSG: the record is shorter than its format.
 */
int ftrace_decode(struct ftrace_decoder *decoder, struct tep_record *record, u32 cpu);

#endif
