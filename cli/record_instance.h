/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CLI_RECORD_INSTANCE_H
#define CLI_RECORD_INSTANCE_H

#include "record_target.h"

/* `record --instance`: the files of an instance that others have started. Exit status. */
int record_instance(const struct record_values *values, int operands);

#endif
