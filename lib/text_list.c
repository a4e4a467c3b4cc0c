/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "text_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool word_list_has_word(const char *list, const char *text)
{
	size_t length = strlen(text);

	for (const char *at = list; (at = strstr(at, text)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

void word_list_add_word(char *list, size_t bytes, const char *text)
{
	size_t used = strlen(list);

	if (!*text || word_list_has_word(list, text) || used + strlen(text) + 3 > bytes)
		return;
	snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", text);
}
