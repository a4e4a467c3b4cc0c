/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the samples of a pprof file refer to by number: strings, functions, locations, mappings.
 * Each is written when it is first asked for: the encoding of a message is the concatenation of its
 * parts in any order, so a file is a chain of profiles with one or two members each, and no more of
 * it is in memory.
 */
#ifndef LIB_EXPORT_PPROF_TABLES_H
#define LIB_EXPORT_PPROF_TABLES_H

#include "event_stack.h"
#include "gzip_stream.h"

struct pprof_tables;
struct Pprof__Profile; /* made of profile.proto */

/* The reader and the stream must outlive them. -ENOMEM. */
int pprof_tables_create(const struct trace_reader *reader, struct gzip_stream *to,
			struct pprof_tables **out);
void pprof_tables_free(struct pprof_tables **tables);

/* Writes one part of the file. */
void pprof_put(struct gzip_stream *to, const struct Pprof__Profile *part);

/* 0 or -ENOMEM. Bytes of names that are not UTF-8 become `?`. */
int pprof_string(struct pprof_tables *tables, const char *text, s64 *index);
int pprof_mapping(struct pprof_tables *tables, const struct trace_mapping *mapping);
/* `frame` was not inlined: those that were inlined into it are in its location. */
int pprof_location(struct pprof_tables *tables, const struct event_frame *frame, u64 *id);

#endif
