/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Output on a terminal goes through a pager, as with git and perf. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

/* Starts the pager ($PAGER, else the system's) for standard output if that is a terminal. The
 * process waits for the pager at its end. Call before the first output. */
void pager_start(void);

#endif
