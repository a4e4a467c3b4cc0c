/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compiles the search for callers without rules for the architecture (arch/return_search.h). */
#include "arch/unwinding.h"
#include UNWIND_RETURN_SEARCH
