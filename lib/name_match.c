/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matching uses fnmatch(3). Nearness is the "optimal string alignment" form of the
 * Damerau-Levenshtein distance, with three rolling rows and a limit: most names are rejected by
 * their length alone.
 */
#include "name_match.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* A name is near the pattern if few edits make the names equal (name_distance()): at most a third
 * of the number of the pattern's characters, and at most this number. */
#define DISTANCE_MAX 6

static u32 minimum_of_two_distances(u32 a, u32 b)
{
	return a < b ? a : b;
}

void name_match_init(struct name_match *match, const char *pattern)
{
	*match = (struct name_match){
		.pattern = pattern,
		.is_glob = strpbrk(pattern, "*?[") != NULL,
		.distance =
			minimum_of_two_distances((u32)strlen(pattern) / 3 + 1, DISTANCE_MAX + 1),
	};
}

static void keep_name_if_most_similar(struct name_match *match, const char *name)
{
	/* A pattern without a colon is compared with the part of the name after the colon. */
	const char *colon = strchr(match->pattern, ':') ? NULL : strchr(name, ':');
	u32 distance = name_distance(match->pattern, colon ? colon + 1 : name, match->distance);

	if (distance >= match->distance || strlen(name) >= sizeof(match->nearest))
		return;
	match->distance = distance;
	snprintf(match->nearest, sizeof(match->nearest), "%s", name);
}

bool name_match_compare_name(struct name_match *match, const char *name)
{
	bool equal = match->is_glob ? fnmatch(match->pattern, name, 0) == 0
				    : strcmp(match->pattern, name) == 0;

	if (equal)
		match->found++;
	else if (!match->found && !match->is_glob)
		keep_name_if_most_similar(match, name);
	return equal;
}

/* Computes row i of the table of distances from rows i - 1 (`above`) and i - 2 (`above2`); returns
 * the smallest number in the row. */
static u32 compute_distance_row(const char *a, u32 i, const char *b, u32 b_length, const u8 *above2,
				const u8 *above, u8 *row)
{
	u32 lowest = i;

	row[0] = i;
	for (u32 j = 1; j <= b_length; j++) {
		u32 best = minimum_of_two_distances(above[j], row[j - 1]) + 1;

		best = minimum_of_two_distances(best, above[j - 1] + (a[i - 1] != b[j - 1]));
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			best = minimum_of_two_distances(best, above2[j - 2] + 1u);
		row[j] = best;
		lowest = minimum_of_two_distances(lowest, best);
	}
	return lowest;
}

u32 name_distance(const char *a, const char *b, u32 limit)
{
	size_t a_length = strlen(a), b_length = strlen(b);
	u8 rows[3][NAME_NEAREST_BYTES];

	if (a_length >= NAME_NEAREST_BYTES || b_length >= NAME_NEAREST_BYTES ||
	    a_length >= b_length + limit || b_length >= a_length + limit)
		return limit;
	for (u32 j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (u32 i = 1; i <= a_length; i++)
		if (compute_distance_row(a, i, b, b_length, rows[(i + 1) % 3], rows[(i - 1) % 3],
					 rows[i % 3]) >= limit)
			return limit;
	return minimum_of_two_distances(rows[a_length % 3][b_length], limit);
}
