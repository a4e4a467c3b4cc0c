/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the test and its programs share. */
#ifndef TESTS_TEST_CLIENT_H
#define TESTS_TEST_CLIENT_H

#include "scalar.h"

enum client_operation {
	CLIENT_ASK,	   /* result[0]: a cookie */
	CLIENT_ASK_TWICE,  /* result[0], result[1]: two */
	CLIENT_ASK_CANCEL, /* and what two cancels said */
	CLIENT_UNWIND,	   /* the depth, the id and the flags of the stack */
};

/* The program's context. */
struct client_question {
	u32 operation;
	u32 reserved;
	s64 result[3];
};

/* The latest answer, and how many there were. */
struct client_answer {
	u32 count;
	u32 tid;
	u32 cookie;
	u32 reason;
	s64 id;
};

#endif
