/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libraries MS WHAT
 *
 *   called     main -> through -> of_library -> leaf
 *   stubs      main -> call_tiny -> library_tiny, by its stub in the PLT
 *   opened     the library is opened, called and closed, again and again
 */
#include <dlfcn.h>
#include <string.h>

#include "work.h"

void of_library(void (*callback)(void));
int library_tiny(int number);

APART static void through(void (*function)(void (*)(void)))
{
	for (int i = 0; i < 5; i++)
		function(leaf);
	AFTER_CALL();
}

APART static void call_tiny(void)
{
	for (int i = 0; i < 100000; i++)
		sink = (unsigned long)library_tiny(i);
	AFTER_CALL();
}

APART static void open_and_call(void)
{
	void *library = dlopen("./libopened.so", RTLD_NOW);
	void (*function)(void (*)(void));

	*(void **)&function = dlsym(library, "of_library");
	through(function);
	dlclose(library);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "called";

	while (is_time_left(argv)) {
		if (!strcmp(what, "called"))
			through(of_library);
		else if (!strcmp(what, "stubs"))
			call_tiny();
		else
			open_and_call();
	}
	return 0;
}
