/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The automaton of --comm gives the results of fnmatch(3), for each glob alone and for several
 * together. */
#include <stdint.h>
#include <string.h>

#include "comm_glob.h"
#include "condition.h"
#include "unit_test.h"

static const char *const names[] = {
	"",
	"a",
	"b",
	"]",
	"-",
	"*",
	"[",
	"\\",
	"ab",
	"ba",
	"aab",
	"abab",
	"abcab",
	"burner",
	"burn",
	"kworker/0:1",
	"a b",
	"[a",
	"a]",
	"a-c",
	"\xff",
	"\xc3\xa4",
	"x\xff",
	"python3",
	"python3.11",
	"aXb",
	"aaaaaaaaaaaaaaa",
	"aaaaaaaaaaaaaab",
	"firefox-content",
};

static const char *const globs[] = {
	"",
	"*",
	"**",
	"?",
	"??",
	"a",
	"a*",
	"*a",
	"*a*",
	"a*b",
	"*ab*ab",
	"burn*",
	"b*r*r",
	"*n?r",
	"[ab]",
	"[!ab]",
	"[^a]*",
	"[]]",
	"[!]]*",
	"[a-c]*",
	"[-a]",
	"[a\\]]",
	"\\*",
	"\\[a",
	"[",
	"[a",
	"a[",
	"[]",
	"[[:digit:]]*",
	"*[[:digit:]]",
	"[[:alpha:]-]*",
	"[[.a.]b]*",
	"[[:alpha:]",
	"\\",
	"a\\",
	"?*?*?",
	"*\xff",
	"kworker/*:[0-9]",
	"a*****************b",
	"aaaaaaaaaaaaaaa",
	"aaaaaaaaaaaaaa?",
	"*aaaaaaaaaaaaaaa",
	"firefox-content-process",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool automaton_matches(const char **wanted, size_t count, const char *name)
{
	const struct string_list list = {.items = wanted, .count = count};
	struct comm_globs automaton;
	u8 comm[COMM_BYTES] = {};

	memcpy(comm, name, strlen(name));
	assert_int_equal(comm_globs_compile(&list, &automaton, NULL), 0);
	return comm_globs_match(&automaton, comm);
}

TEST(each_glob_matches_as_fnmatch_does)
{
	for (size_t i = 0; i < COUNT(globs); i++)
		for (size_t n = 0; n < COUNT(names); n++) {
			const char *glob = globs[i];

			if (automaton_matches(&glob, 1, names[n]) ==
			    comm_glob_matches(glob, names[n]))
				continue;
			fail_msg("'%s' and '%s'", glob, names[n]);
		}
}

TEST(several_globs_match_what_one_of_them_matches)
{
	for (size_t i = 0; i + 2 < COUNT(globs); i++)
		for (size_t n = 0; n < COUNT(names); n++) {
			const char *wanted[] = {globs[i], globs[i + 1], globs[i + 2]};
			bool expected = false;

			for (size_t g = 0; g < COUNT(wanted); g++)
				expected |= comm_glob_matches(wanted[g], names[n]);
			if (automaton_matches(wanted, COUNT(wanted), names[n]) != expected)
				fail_msg("'%s', '%s', '%s' and '%s'", wanted[0], wanted[1],
					 wanted[2], names[n]);
		}
}

TEST(a_long_name_matches_its_first_15_characters)
{
	assert_true(comm_glob_matches("firefox-content-process", "firefox-content"));
	assert_false(comm_glob_matches("firefox-content-process", "firefox-conten"));
	assert_false(comm_glob_matches("firefox-content-*", "firefox-content"));
}

static int compile(const char **wanted, size_t count)
{
	const struct string_list list = {.items = wanted, .count = count};
	struct comm_globs automaton;
	struct stackmap_error error;

	return comm_globs_compile(&list, &automaton, &error);
}

TEST(impossible_or_too_long_globs_are_refused)
{
	const char *wanted[] = {"aaaaaaaaaaaaaaa", "bbbbbbbbbbbbbb", "cccccccccccccc",
				"ddddddddddddd", "e"};
	const char *long_glob = "aaaaaaaaaaaaaaa?";

	assert_int_equal(compile(&long_glob, 1), -ERANGE);
	assert_int_equal(compile(wanted, 4), 0);
	assert_int_equal(compile(wanted, 5), -ERANGE);
}
