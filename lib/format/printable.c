/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table holds Unicode's categories Cc, Zl and Zp, the property Default_Ignorable_Code_Point
 * (DerivedCoreProperties), which includes the bidirectional controls, and the interlinear
 * annotations. All other characters pass, also unassigned ones: a terminal shows a box for them.
 * The table is sorted by code, so an ASCII character takes at most two rows.
 */
#include "printable.h"

#include <string.h>

static const struct range {
	u32 first, last;
} unprintable[] = {
	{0x00, 0x1f},	    /* C0 */
	{0x7f, 0x9f},	    /* DEL, C1 */
	{0xad, 0xad},	    /* soft hyphen */
	{0x34f, 0x34f},	    /* combining grapheme joiner */
	{0x61c, 0x61c},	    /* Arabic letter mark */
	{0x115f, 0x1160},   /* Hangul fillers */
	{0x17b4, 0x17b5},   /* Khmer inherent vowels */
	{0x180b, 0x180f},   /* Mongolian selectors and the Mongolian vowel separator */
	{0x200b, 0x200f},   /* characters of zero width; marks of direction */
	{0x2028, 0x202e},   /* line separators; embeddings and overrides of direction */
	{0x2060, 0x206f},   /* word joiner; isolates of direction */
	{0x3164, 0x3164},   /* Hangul filler */
	{0xfe00, 0xfe0f},   /* variation selectors */
	{0xfeff, 0xfeff},   /* byte order mark */
	{0xffa0, 0xffa0},   /* Hangul filler */
	{0xfff0, 0xfffb},   /* specials */
	{0x1bca0, 0x1bca3}, /* shorthand controls */
	{0x1d173, 0x1d17a}, /* musical controls */
	{0xe0000, 0xe0fff}, /* tags */
};

#define OMITTED "..."

#define SURROGATE_FIRST 0xd800
#define SURROGATE_LAST 0xdfff
#define CODE_MAX 0x10ffff

static u32 utf8_length(u8 lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xc0)
		return 0;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
}

/* Decodes a character of UTF-8. False: the bytes are not a character, or a longer encoding than
 * necessary. */
static bool decode_utf8(const u8 *text, u32 bytes, u32 *code)
{
	static const u32 first[] = {0, 0, 0x80, 0x800, 0x10000};

	*code = bytes == 1 ? text[0] : text[0] & (0x7f >> bytes);
	for (u32 i = 1; i < bytes; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return false;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	return bytes && *code >= first[bytes] && *code <= CODE_MAX &&
	       (*code < SURROGATE_FIRST || *code > SURROGATE_LAST);
}

enum printable classify_next_character(const char *text, u32 *bytes)
{
	const u8 *character = (const u8 *)text;
	u32 length = utf8_length(*character), code;

	*bytes = 1;
	if (!decode_utf8(character, length, &code))
		return NO_CHARACTER;
	*bytes = length;
	for (size_t i = 0; i < sizeof(unprintable) / sizeof(*unprintable); i++)
		if (code <= unprintable[i].last)
			return code < unprintable[i].first ? PRINTABLE : UNPRINTABLE;
	return PRINTABLE;
}

bool is_text_printable(const char *text)
{
	for (u32 bytes; *text; text += bytes)
		if (classify_next_character(text, &bytes) != PRINTABLE)
			return false;
	return true;
}

u32 printable_put_next(const char *text, FILE *to)
{
	u32 bytes;

	if (classify_next_character(text, &bytes) != PRINTABLE)
		putc_unlocked('?', to);
	else
		for (u32 i = 0; i < bytes; i++)
			putc_unlocked(text[i], to);
	return bytes;
}

void printable_put(const char *text, FILE *to)
{
	size_t ascii;

	for (; *text; text += printable_put_next(text, to)) {
		for (ascii = 0; text[ascii] >= ' ' && text[ascii] <= '~';)
			ascii++;
		fwrite_unlocked(text, 1, ascii, to);
		text += ascii;
		if (!*text)
			break;
	}
}

size_t printable_count(const char *text)
{
	size_t count = 0;

	for (u32 bytes; *text; text += bytes, count++)
		classify_next_character(text, &bytes);
	return count;
}

void printable_put_cut(const char *text, size_t most, FILE *to)
{
	size_t count = most ? printable_count(text) : 0, kept = most - strlen(OMITTED), i = 0;
	u32 bytes;

	if (count <= most) {
		printable_put(text, to);
		return;
	}
	for (; i < kept - kept / 2; i++)
		text += printable_put_next(text, to);
	fputs(OMITTED, to);
	for (; i < count - kept / 2; i++) {
		classify_next_character(text, &bytes);
		text += bytes;
	}
	printable_put(text, to);
}

void replace_unprintable_bytes(char *text)
{
	char *end = text;

	for (u32 bytes; *text; text += bytes) {
		if (classify_next_character(text, &bytes) == PRINTABLE) {
			memmove(end, text, bytes);
			end += bytes;
		} else {
			*end++ = '?';
		}
	}
	*end = '\0';
}
