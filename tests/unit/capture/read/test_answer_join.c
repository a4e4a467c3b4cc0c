/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The join of cookies and answers: every order in which they can come, and that it lets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "capture/read/answer_join.h"
#include "engine.h"

#define TID 1000
#define COOKIE 7
#define LASTING (COOKIE_LASTING | COOKIE)

static int setup(void **state)
{
	return answer_join_create((struct answer_join **)state);
}

static int teardown(void **state)
{
	answer_join_free((struct answer_join **)state);
	return 0;
}

static struct user_answer answer_of(u32 id)
{
	struct user_answer answer = {.id = id, .depth = 2, .frames = calloc(2, sizeof(u64))};

	assert_non_null(answer.frames);
	return answer;
}

/* What waited for it, both forms together. */
static u64 give_answer(struct answer_join *join, u32 tid, u32 cookie)
{
	struct user_answer answer = answer_of(cookie);
	struct promise waiting[ANSWER_FORMS];

	assert_int_equal(answer_join_answer(join, tid, cookie, &answer, waiting), 0);
	return waiting[ANSWER_BEHIND_LEAF].events + waiting[ANSWER_FULL].events;
}

static void event(struct answer_join *join, u32 tid, u32 cookie, enum answer_form form, u32 promise)
{
	struct promise *waiting = answer_join_wait(join, tid, cookie, form);

	assert_non_null(waiting);
	waiting->index = promise;
	waiting->events++;
}

static void an_answer_before_its_events(void **state)
{
	struct answer_join *join = *state;

	assert_null(answer_join_find(join, TID, COOKIE));
	assert_int_equal(give_answer(join, TID, COOKIE), 0);
	assert_int_equal(answer_join_find(join, TID, COOKIE)->id, COOKIE);
}

static void an_answer_after_its_events(void **state)
{
	struct user_answer answer = answer_of(1);
	struct promise waiting[ANSWER_FORMS];

	assert_int_equal(answer_join_wait(*state, TID, COOKIE, ANSWER_FULL)->index, TRACE_NO_STACK);
	event(*state, TID, COOKIE, ANSWER_FULL, 40);
	event(*state, TID, COOKIE, ANSWER_FULL, 40);
	event(*state, TID, COOKIE, ANSWER_BEHIND_LEAF, 41);
	assert_null(answer_join_find(*state, TID, COOKIE));
	assert_int_equal(answer_join_answer(*state, TID, COOKIE, &answer, waiting), 0);
	assert_int_equal(waiting[ANSWER_FULL].index, 40);
	assert_int_equal(waiting[ANSWER_FULL].events, 2);
	assert_int_equal(waiting[ANSWER_BEHIND_LEAF].index, 41);
	assert_int_equal(waiting[ANSWER_BEHIND_LEAF].events, 1);
}

/* The same promise must not be kept twice, and the first answer is the one that events have. */
static void the_first_answer_counts(void **state)
{
	struct user_answer second = answer_of(2);
	struct promise waiting[ANSWER_FORMS];

	event(*state, TID, COOKIE, ANSWER_FULL, 40);
	assert_int_equal(give_answer(*state, TID, COOKIE), 1);
	assert_int_equal(answer_join_answer(*state, TID, COOKIE, &second, waiting), -EEXIST);
	assert_int_equal(answer_join_find(*state, TID, COOKIE)->id, COOKIE);
}

/* A task that was looked at answers for itself when it leaves the kernel: events before that may
 * come an epoch later. */
static void an_answer_that_comes_twice_is_as_new_as_the_second(void **state)
{
	struct user_answer second = answer_of(2);
	struct promise waiting[ANSWER_FORMS];

	give_answer(*state, TID, COOKIE);
	give_answer(*state, TID, COOKIE + 1);
	answer_join_epoch(*state);
	assert_int_equal(answer_join_answer(*state, TID, COOKIE, &second, waiting), -EEXIST);
	answer_join_epoch(*state);
	assert_non_null(answer_join_find(*state, TID, COOKIE));
	assert_null(answer_join_find(*state, TID, COOKIE + 1));
	answer_join_epoch(*state);
	assert_null(answer_join_find(*state, TID, COOKIE));
}

static void only_a_promise_waits(void **state)
{
	assert_false(answer_join_is_waited(*state, TID, COOKIE));
	event(*state, TID, COOKIE, ANSWER_FULL, 40);
	assert_true(answer_join_is_waited(*state, TID, COOKIE));
	give_answer(*state, TID, COOKIE);
	assert_false(answer_join_is_waited(*state, TID, COOKIE));
}

static void a_cookie_is_one_tasks_own(void **state)
{
	give_answer(*state, TID, COOKIE);
	assert_null(answer_join_find(*state, TID + 1, COOKIE));
	assert_null(answer_join_find(*state, TID, COOKIE + 1));
	event(*state, TID + 1, COOKIE, ANSWER_FULL, 40);
	assert_int_equal(give_answer(*state, TID + 1, COOKIE), 1);
}

static void an_answer_outlives_a_whole_epoch(void **state)
{
	give_answer(*state, TID, COOKIE);
	answer_join_epoch(*state);
	assert_non_null(answer_join_find(*state, TID, COOKIE));
	answer_join_epoch(*state);
	assert_null(answer_join_find(*state, TID, COOKIE));
}

static void epochs_drop_only_what_is_old(void **state)
{
	give_answer(*state, TID, 1);
	answer_join_epoch(*state);
	give_answer(*state, TID, 2);
	answer_join_epoch(*state);
	assert_null(answer_join_find(*state, TID, 1));
	assert_non_null(answer_join_find(*state, TID, 2));
}

/* Which cookies are open, and what was lost. */
struct world {
	bool open;
	u64 lost_cookies;
	u64 lost_events;
};

static bool is_open(void *arg, u32 tid, u32 cookie)
{
	(void)tid;
	(void)cookie;
	return ((struct world *)arg)->open;
}

static void lost(void *arg, u32 tid, u32 cookie, const struct promise waiting[ANSWER_FORMS])
{
	struct world *world = arg;

	(void)tid;
	(void)cookie;
	world->lost_cookies++;
	world->lost_events += waiting[ANSWER_FULL].events + waiting[ANSWER_BEHIND_LEAF].events;
}

static struct answer_join_sweep sweep_of(struct world *world)
{
	return (struct answer_join_sweep){.is_open = is_open, .lost = lost, .arg = world};
}

static void epochs_pass(struct answer_join *join, int count)
{
	while (count--)
		answer_join_epoch(join);
}

static void a_promise_waits_as_long_as_its_task(void **state)
{
	struct world world = {.open = true};
	struct answer_join_sweep sweep = sweep_of(&world);

	event(*state, TID, COOKIE, ANSWER_FULL, 40);
	for (int i = 0; i < 3; i++) {
		epochs_pass(*state, 2);
		answer_join_sweep(*state, &sweep);
	}
	assert_int_equal(give_answer(*state, TID, COOKIE), 1);
	assert_int_equal(world.lost_cookies, 0);
}

/* Its answer was written before the task was seen not to wait, and is read an epoch later. */
static void a_closed_cookie_waits_for_an_epoch(void **state)
{
	struct world world = {.open = false};
	struct answer_join_sweep sweep = sweep_of(&world);

	event(*state, TID, 1, ANSWER_FULL, 40);
	event(*state, TID, 2, ANSWER_FULL, 41);
	answer_join_sweep(*state, &sweep);
	answer_join_epoch(*state);
	answer_join_sweep(*state, &sweep);
	assert_int_equal(give_answer(*state, TID, 1), 1);
	answer_join_epoch(*state);
	answer_join_sweep(*state, &sweep);
	assert_int_equal(world.lost_cookies, 1);
	assert_int_equal(world.lost_events, 1);
}

/* Until it is seen closed, and an epoch behind that. */
static void a_lasting_answer_stays(void **state)
{
	struct world world = {.open = true};
	struct answer_join_sweep sweep = sweep_of(&world);

	event(*state, TID, LASTING, ANSWER_FULL, 40);
	assert_int_equal(give_answer(*state, TID, LASTING), 1);
	for (int i = 0; i < 3; i++) {
		epochs_pass(*state, 2);
		answer_join_sweep(*state, &sweep);
	}
	world.open = false;
	answer_join_sweep(*state, &sweep);
	answer_join_epoch(*state);
	answer_join_sweep(*state, &sweep);
	assert_non_null(answer_join_find(*state, TID, LASTING));
	answer_join_epoch(*state);
	answer_join_sweep(*state, &sweep);
	assert_null(answer_join_find(*state, TID, LASTING));
	assert_int_equal(world.lost_cookies, 0);
}

static int count_answer(void *arg, struct user_answer *answer)
{
	(void)answer;
	return ++*(int *)arg, 0;
}

/* The next file's events may be given it still. */
static void a_lasting_answer_outlives_a_file(void **state)
{
	struct world world = {};
	struct answer_join_sweep sweep = sweep_of(&world);
	int count = 0;

	give_answer(*state, TID, LASTING);
	give_answer(*state, TID, COOKIE);
	event(*state, TID, LASTING + 1, ANSWER_FULL, 40);
	answer_join_end(*state, &sweep);
	assert_int_equal(world.lost_cookies, 1);
	assert_int_equal(answer_join_each(*state, count_answer, &count), 0);
	assert_int_equal(count, 2);
}

static void the_end_loses_who_waits(void **state)
{
	struct world world = {};
	struct answer_join_sweep sweep = sweep_of(&world);

	event(*state, TID, 1, ANSWER_FULL, 40);
	event(*state, TID, 1, ANSWER_BEHIND_LEAF, 41);
	event(*state, TID, 2, ANSWER_FULL, 42);
	give_answer(*state, TID, 3);
	answer_join_end(*state, &sweep);
	assert_int_equal(world.lost_cookies, 2);
	assert_int_equal(world.lost_events, 3);
}

/* Answers that never come, an epoch after each event: the join never holds more than a crowd. */
static void it_lets_go(void **state)
{
	enum { EVENTS = 100000, MOST = 3 * 4096 };
	struct world world = {.open = false};
	struct answer_join_sweep sweep = sweep_of(&world);
	u64 most = 0;
	u32 i;

	for (i = 0; i < EVENTS; i++) {
		event(*state, TID + i, COOKIE, ANSWER_FULL, i);
		answer_join_epoch(*state);
		if (answer_join_is_crowded(*state))
			answer_join_sweep(*state, &sweep);
		most = i + 1 - world.lost_cookies > most ? i + 1 - world.lost_cookies : most;
	}
	assert_in_range(most, 1, MOST);
	assert_int_equal(world.lost_events, world.lost_cookies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_before_its_events, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_after_its_events, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_answer_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_that_comes_twice_is_as_new_as_the_second,
						setup, teardown),
		cmocka_unit_test_setup_teardown(only_a_promise_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cookie_is_one_tasks_own, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_outlives_a_whole_epoch, setup, teardown),
		cmocka_unit_test_setup_teardown(epochs_drop_only_what_is_old, setup, teardown),
		cmocka_unit_test_setup_teardown(a_promise_waits_as_long_as_its_task, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_closed_cookie_waits_for_an_epoch, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_lasting_answer_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lasting_answer_outlives_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(the_end_loses_who_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(it_lets_go, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
