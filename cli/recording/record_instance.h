/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CLI_RECORD_INSTANCE_H
#define CLI_RECORD_INSTANCE_H

#include "record_target.h"

/* Exit status: whether the options say nothing of what an instance records, as that was said when
 * it was started. `operands`: how many. */
int record_instance_check(const struct record_values *values, int operands);

/* `record --instance`: the files of an instance that others have started. Exit status. */
int record_instance(const struct record_values *values, int operands);

#endif
