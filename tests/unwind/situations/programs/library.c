/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A shared library: of_library -> the program's callback; and a function so small that its stub in
 * the PLT is hot. */
void of_library(void (*callback)(void));
void of_library(void (*callback)(void))
{
	callback();
	__asm__ volatile("" ::: "memory");
}

int library_tiny(int number);
int library_tiny(int number)
{
	return number + 1;
}
