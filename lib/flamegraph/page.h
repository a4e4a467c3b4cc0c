/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two parts of the page around the data. The build makes them from the files in page/. */
#ifndef LIB_FLAMEGRAPH_PAGE_H
#define LIB_FLAMEGRAPH_PAGE_H

extern const char page_before_data[];
extern const char page_after_data[];

#endif
