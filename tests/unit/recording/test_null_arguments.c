/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of the library whose options, names or places for an answer are NULL: refused, with a
 * reason where there is a place for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "stackmap/capture.h"
#include "stackmap/client.h"
#include "stackmap/here.h"
#include "stackmap/recording.h"

static void without_options_nothing_is_captured(void **state)
{
	struct stackmap_capture *capture = NULL;
	struct stackmap_error error = {};

	(void)state;
	assert_int_equal(stackmap_capture_open(NULL, &capture, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_int_equal(stackmap_capture_open(NULL, &capture, NULL), -EINVAL);
	assert_null(capture);
}

static void without_an_object_there_is_no_client(void **state)
{
	struct stackmap_client *client = NULL;
	struct stackmap_error error = {};

	(void)state;
	assert_int_equal(stackmap_client_open(NULL, 14, &client, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_null(client);
}

static void without_a_path_nothing_is_opened(void **state)
{
	struct stackmap_recording *recording = NULL;
	struct stackmap_error error = {};

	(void)state;
	assert_int_equal(stackmap_recording_open(NULL, &recording, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_null(recording);
}

static void without_a_place_no_frames_are_written(void **state)
{
	(void)state;
	assert_int_equal(stackmap_here(NULL, 10), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_options_nothing_is_captured),
		cmocka_unit_test(without_an_object_there_is_no_client),
		cmocka_unit_test(without_a_path_nothing_is_opened),
		cmocka_unit_test(without_a_place_no_frames_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
