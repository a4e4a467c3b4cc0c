/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An OTLP request: the resource that its profiles are of, a machine, around what was encoded. */
#ifndef LIB_EXPORT_OTLP_RESOURCE_H
#define LIB_EXPORT_OTLP_RESOURCE_H

#include "export_format.h"
#include "trace/bytes/byte_buffer.h"

/* `profiles`: each behind its length. -ENOMEM; errors of `to` are left to the caller. */
int otlp_request_write(const struct trace_reader *reader, const struct export_identity *identity,
		       const struct byte_buffer *profiles, const struct byte_buffer *dictionary,
		       FILE *to);

#endif
