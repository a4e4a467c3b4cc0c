/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page around the data, which the build makes of the files in page/: the data goes between the
 * two parts. */
#ifndef LIB_FLAMEGRAPH_PAGE_H
#define LIB_FLAMEGRAPH_PAGE_H

extern const char page_before_data[];
extern const char page_after_data[];

#endif
