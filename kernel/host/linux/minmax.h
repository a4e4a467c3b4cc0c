/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
