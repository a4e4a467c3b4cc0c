/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time until the next visit of the rings. */

#include "capture/drain/pace.h"

#include "unit_test.h"

#define VISITS 20
#define LARGE (1U << 20)
#define SMALL (1U << 14)

static int pace_after_visits_of_full_rings(struct pace *pace, u32 fill)
{
	const struct pace_rings rings = {.fill = fill, .had_event = true, .slots = LARGE};
	int ms = 0;

	for (int i = 0; i < VISITS; i++)
		ms = pace_next_ms(pace, &rings);
	return ms;
}

static int pace_after_visits_of_empty_rings(struct pace *pace, u32 slots)
{
	const struct pace_rings rings = {.slots = slots};
	int ms = 0;

	for (int i = 0; i < VISITS; i++)
		ms = pace_next_ms(pace, &rings);
	return ms;
}

TEST(rings_with_few_events_are_visited_seldom)
{
	const struct pace_rings rings = {.had_event = true, .slots = LARGE};
	struct pace pace = {};

	assert_int_equal(pace_next_ms(&pace, &rings), 2 * PACE_MS_MIN);
	assert_int_equal(pace_after_visits_of_full_rings(&pace, 0), PACE_MS_MAX);
}

TEST(empty_rings_are_visited_as_seldom_as_their_size_allows)
{
	struct pace pace = {};

	assert_int_equal(pace_after_visits_of_empty_rings(&pace, LARGE), PACE_MS_IDLE);
	assert_int_equal(pace_after_visits_of_empty_rings(&pace, SMALL), PACE_MS_MAX);
	assert_int_equal(pace_after_visits_of_empty_rings(&pace, 200 * PACE_EVENTS_PER_MS), 200);
	assert_int_equal(pace_after_visits_of_empty_rings(&pace, 400 * PACE_EVENTS_PER_MS), 400);
	assert_int_equal(pace_after_visits_of_full_rings(&pace, 0), PACE_MS_MAX);
}

TEST(empty_rings_of_rare_samples_are_visited_once_a_second)
{
	const struct pace_rings rings = {.slots = 400 * PACE_EVENTS_PER_MS, .per_ms = 128};
	struct pace pace = {};
	int ms = 0;

	for (int i = 0; i < VISITS; i++)
		ms = pace_next_ms(&pace, &rings);
	assert_int_equal(ms, PACE_MS_IDLE);
}

TEST(full_rings_are_visited_often)
{
	const struct pace_rings rings = {.fill = 26, .had_event = true, .slots = LARGE};
	struct pace pace = {.ms = PACE_MS_MAX};

	assert_int_equal(pace_next_ms(&pace, &rings), PACE_MS_MAX / 2);
	assert_int_equal(pace_after_visits_of_full_rings(&pace, 100), PACE_MS_MIN);
}

TEST(between_the_limits_the_pace_is_unchanged)
{
	struct pace pace = {.ms = 40};

	assert_int_equal(pace_after_visits_of_full_rings(&pace, 15), 40);
}

/* New code makes some quick visits, which become rare within a second. */
TEST(new_code_is_followed_by_visits_that_become_rare)
{
	const struct pace_rings rings = {.had_event = true, .slots = LARGE};
	struct pace pace = {.ms = PACE_MS_IDLE};
	int visits = 0;

	pace_note_new_code(&pace);
	while (pace_next_ms(&pace, &rings) < PACE_MS_MAX)
		visits++;
	assert_int_equal(visits, 6);
}

TEST(new_code_is_watched_for_where_programs_do_not_tell_it)
{
	struct pace pace = {.ms = PACE_MS_MAX, .watches = true};

	pace_note_new_code(&pace);
	assert_int_equal(pace_after_visits_of_full_rings(&pace, 0), PACE_MS_WATCH);
	assert_int_equal(pace_after_visits_of_full_rings(&pace, 100), PACE_MS_MIN);
	pace.watch_until = 0;
	assert_int_equal(pace_after_visits_of_full_rings(&pace, 0), PACE_MS_MAX);
}
