/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes lines of the text that mappings_reader.h describes, without line ends. */
#ifndef LIB_FORMAT_MAPPINGS_TEXT_H
#define LIB_FORMAT_MAPPINGS_TEXT_H

#include <stdio.h>

#include "trace/event.h"

/* The kernel, or one of its modules. */
void mappings_put_module(const struct trace_module *module, FILE *to);

void mappings_put_mapping(const struct trace_mapping *mapping, FILE *to);

#endif
