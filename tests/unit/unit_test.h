/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unit tests that register themselves, in the order of their file; cmocka runs them.
 *
 *   TEST(name)                    a test without fixture
 *   TEST(name, setup, teardown)   setup runs before the test, teardown after it; either may be NULL
 *   TEST_GROUP(setup, teardown)   the same for all tests of the program together
 *
 * `state` is cmocka's. A program that has to look at its machine or its arguments first has a
 * main() of its own, which ends with unit_tests_run(); every other program takes the main() of
 * unit_test_main.c.
 */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(name, ...)                                                                            \
	static void test_##name(void **state);                                                     \
	__attribute__((constructor)) static void register_##name(void)                             \
	{                                                                                          \
		unit_test_add(&(const struct CMUnitTest){#name, test_##name, __VA_ARGS__});        \
	}                                                                                          \
	static void test_##name(__attribute__((unused)) void **state)

#define TEST_GROUP(setup, teardown)                                                                \
	__attribute__((constructor)) static void register_group(void)                              \
	{                                                                                          \
		unit_test_group(setup, teardown);                                                  \
	}

void unit_test_add(const struct CMUnitTest *test);
void unit_test_group(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Runs all tests that are registered. Returns how many failed: the exit status of the program. */
int unit_tests_run(void);

#endif
