/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library so small that its header and its code, in two segments, share the first page of the
 * file if the linker packs segments. */
int in_first_page(int number);

int in_first_page(int number)
{
	return number + 1;
}
