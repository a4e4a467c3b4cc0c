/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One path through the code of a function (code_analysis.h). */
#ifndef LIB_SYMBOL_CODE_PATH_H
#define LIB_SYMBOL_CODE_PATH_H

#include "code_functions.h"

/* One path on its way, until it ends. */
struct path {
	struct code_analysis *analysis;
	struct edge edge; /* .at: the current instruction */
	struct frame_state state;
	u32 number; /* of the state; NONE: it has changed since */
	struct frame_compared compared;
	u32 run_start, run_end; /* instructions that are not noted as the function's yet */
	u32 behind_call;	/* nothing but padding lies between here and a call's end */
	bool is_over;
};

void path_flush(struct path *path);
struct function *path_function(const struct path *path);
void path_end(struct path *path);
void path_contradict(struct path *path);
void path_exit(struct path *path, bool returns);
void path_tail_call(struct path *path, u32 target, u32 kind);
u32 path_state(struct path *path);
void path_fork(struct path *path, u32 target, const struct frame_state *state);
void path_note_jump(struct path *path);
/* Marks an instruction as the path's. False: parts of it belong to other instructions. */
bool path_occupy(struct path *path, u32 length);
void path_go_to(struct path *path, s64 target);
void path_branch_to(struct path *path, s64 target, const struct frame_state *state);

/* One instruction; `end` is that of the section. */
void path_follow(struct path *path, u32 end);

/* Follows all paths that can be followed. */
void paths_follow_all(struct code_analysis *analysis);

#endif
