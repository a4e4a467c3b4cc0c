/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* So small that its header and its code, in two segments, share the first page of the file where
 * the linker packs them. */
int in_first_page(int number);

int in_first_page(int number)
{
	return number + 1;
}
