/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queries are for ClickHouse 18.16 and current ones: strictness of joins is said, and no
 * function is used that only one of them has. Rows of some days that are alike count once.
 */
#include "store/wire/views.h"

#include <stddef.h>

/* The best that is known of a frame: of debug information before that of a symbol table. */
#define FRAMES                                                                                     \
	"SELECT object, offset, argMax(functions, rank) AS functions FROM frames "                 \
	"GROUP BY object, offset"

#define OBJECTS                                                                                    \
	"SELECT object, any(path) AS path, any(build_id) AS build_id FROM objects GROUP BY object"

/* A stack is a row, then a frame is. The innermost frame of a side is what was executed; the others
 * are return addresses, looked up by the byte before. */
#define POSITIONS                                                                                  \
	"SELECT stack, position, object, if(position = 1 OR position = depth + 1 OR place = 0, "   \
	"place, toUInt64(place - 1)) AS offset FROM "                                              \
	"(SELECT stack, any(kernel_depth) AS depth, any(object) AS objects, "                      \
	"any(offset) AS places FROM stacks GROUP BY stack) AS whole "                              \
	"ARRAY JOIN objects AS object, places AS place, arrayEnumerate(objects) AS position"

/* What was inlined is a frame of its own, as in the reports; code without a name is its file. */
#define NAMES                                                                                      \
	"if(empty(functions), [path], arrayMap((name, i) -> if(i < length(functions), "            \
	"concat(name, ' (inlined)'), name), functions, arrayEnumerate(functions)))"

const struct store_view store_views[] = {
	{"frame_names", FRAMES},
	{"object_names", OBJECTS},
	/* Outermost first, as a flame graph grows. */
	{"stack_names",
	 "SELECT stack, arrayReverse(groupArrayArray(names)) AS names FROM "
	 "(SELECT stack, position, " NAMES " AS names FROM "
	 "(SELECT stack, position, object, functions FROM (" POSITIONS ") AS positions "
	 "ANY LEFT JOIN (" FRAMES ") AS found USING (object, offset)) AS named "
	 "ANY LEFT JOIN (" OBJECTS ") AS files USING (object) ORDER BY stack, position) "
	 "GROUP BY stack"},
	{"ledger_final", "SELECT * FROM ledger FINAL"},
	{NULL, NULL},
};
