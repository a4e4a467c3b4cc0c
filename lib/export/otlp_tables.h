/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dictionary of an OTLP request: tables of strings, attributes, mappings, functions, locations,
 * stacks and links. Each entry is written once, and others refer to it by its index from 1 on. The
 * dictionary is encoded as it grows: the encoding of a dictionary is the concatenation of
 * dictionaries with one entry each.
 */
#ifndef LIB_EXPORT_OTLP_TABLES_H
#define LIB_EXPORT_OTLP_TABLES_H

#include "event_stack.h"
#include "trace/bytes/byte_buffer.h"

struct otlp_tables;
struct ProtobufCMessage;

/* The reader must outlive the tables. -ENOMEM. */
int otlp_tables_create(const struct trace_reader *reader, struct otlp_tables **out);
void otlp_tables_free(struct otlp_tables **tables);

/* The functions set *index to the index of an entry, which is added if it is new. 0 or -ENOMEM.
 * Bytes of texts that are not UTF-8 become `?`. */
int otlp_string(struct otlp_tables *tables, const char *text, s32 *index);
int otlp_text_attribute(struct otlp_tables *tables, const char *key, const char *text, s32 *index);
int otlp_number_attribute(struct otlp_tables *tables, const char *key, s64 number, s32 *index);
/* The link to a trace and span; `number` is that of the struct trace_context in the recording. */
int otlp_link(struct otlp_tables *tables, u32 number, s32 *index);
int otlp_stack(struct otlp_tables *tables, const struct event_stack *stack, s32 *index);

/* The encoded dictionary, which belongs to the tables. The buffer's `failed` is set if memory ran
 * out. */
const struct byte_buffer *otlp_dictionary(const struct otlp_tables *tables);

/* Appends the encoding of a message of otlp.proto. */
void otlp_encode(struct byte_buffer *to, const struct ProtobufCMessage *message);

#endif
