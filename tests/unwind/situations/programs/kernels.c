/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kernels MS NAME: main -> outer -> of_NAME -> kernel_NAME (assembler.S). Two of the kernels call
 * leaf. */
#include <string.h>

#include "work.h"

#define KERNELS(X) X(leaf) X(pushing) X(aligned) X(zero) X(lost) X(framed) X(frameless)
#define ROUNDS 50000

#define X(name)                                                                                    \
	long kernel_##name(long rounds);                                                           \
	APART static void of_##name(void)                                                          \
	{                                                                                          \
		sink += (unsigned long)kernel_##name(ROUNDS);                                      \
	}
KERNELS(X)
#undef X

APART static void outer(const char *name)
{
#define X(each)                                                                                    \
	if (!strcmp(name, #each))                                                                  \
		of_##each();
	KERNELS(X)
#undef X
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	while (is_time_left(argv))
		outer(argc > 2 ? argv[2] : "leaf");
	return 0;
}
