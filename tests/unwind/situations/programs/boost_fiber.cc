/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fiber of Boost.Context, whose stack begins in make_fcontext: ... -> body -> leaf. */
#include <boost/context/fiber.hpp>
#include <unistd.h>
#define noclone
#include "work.h"

APART static void body()
{
	leaf();
	AFTER_CALL();
}

int main(int, char **argv)
{
	boost::context::fiber one{[](boost::context::fiber &&back) {
		for (;;) {
			body();
			back = std::move(back).resume();
		}
		return std::move(back);
	}};

	while (is_time_left(argv))
		one = std::move(one).resume();
	_exit(0);
}
