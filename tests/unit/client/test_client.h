/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that the test and its programs share. */
#ifndef TESTS_TEST_CLIENT_H
#define TESTS_TEST_CLIENT_H

#include "scalar.h"

enum client_operation {
	CLIENT_ASK,	   /* result[0]: a cookie */
	CLIENT_ASK_TWICE,  /* result[0], result[1]: two cookies */
	CLIENT_ASK_CANCEL, /* result[2], result[3]: results of two cancellations */
	CLIENT_UNWIND,	   /* results: the depth, the id and the flags of the stack */
};

/* The context of the program. */
struct client_question {
	u32 operation;
	u32 reserved;
	s64 result[3];
};

/* The latest deferred stack, and the number of them. */
struct client_answer {
	u32 count;
	u32 tid;
	u32 cookie;
	u32 reason;
	s64 id;
};

#endif
