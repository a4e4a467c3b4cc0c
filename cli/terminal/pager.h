/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a person reads on a terminal goes through a pager, as with git and perf. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

/* From here on standard output goes through the pager ($PAGER, else the system's), if it is a
 * terminal; else nothing happens. The process waits for it at its end. Call before the first
 * output. */
void pager_start(void);

#endif
