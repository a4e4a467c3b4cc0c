/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that a recording is of: the one that most events with user stacks are from. */
#ifndef LIB_EXPORT_MAIN_PROGRAM_H
#define LIB_EXPORT_MAIN_PROGRAM_H

#include "trace/read/reader.h"

struct main_program;

/* The reader must outlive it. -ENOMEM. */
int main_program_create(struct trace_reader *reader, struct main_program **out);
void main_program_free(struct main_program **program);

void main_program_count(struct main_program *program, const struct trace_event *event);

/* Its file, the reader's; NULL: no event has a user stack in a program. */
const struct trace_mapping *main_program_find(const struct main_program *program);

#endif
