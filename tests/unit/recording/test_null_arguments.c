/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls of the library with NULL as object, options, name or place for a result are refused, with a
 * reason if the caller passes a place for an error. Closing NULL is no error. */
#include <errno.h>
#include <stdint.h>

#include "stackmap/capture.h"
#include "stackmap/client.h"
#include "stackmap/here.h"
#include "stackmap/recording.h"
#include "stackmap/stack_map.h"
#include "unit_test.h"

TEST(without_options_nothing_is_captured)
{
	struct stackmap_capture *capture = NULL;
	struct stackmap_error error = {};

	assert_int_equal(stackmap_capture_open(NULL, &capture, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_int_equal(stackmap_capture_open(NULL, &capture, NULL), -EINVAL);
	assert_null(capture);
}

TEST(without_an_object_there_is_no_client)
{
	struct stackmap_client *client = NULL;
	struct stackmap_error error = {};

	assert_int_equal(stackmap_client_open(NULL, 14, &client, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_null(client);
}

TEST(without_a_path_nothing_is_opened)
{
	struct stackmap_recording *recording = NULL;
	struct stackmap_error error = {};

	assert_int_equal(stackmap_recording_open(NULL, &recording, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_null(recording);
}

TEST(without_a_place_no_frames_are_written)
{
	assert_int_equal(stackmap_here(NULL, 10), -EINVAL);
}

TEST(closing_null_has_no_effect)
{
	struct stackmap_recording *recording = NULL;
	struct stackmap_capture *capture = NULL;
	struct stackmap_client *client = NULL;
	struct stackmap_map *map = NULL;

	stackmap_recording_close(NULL);
	stackmap_recording_close(&recording);
	stackmap_capture_close(NULL);
	stackmap_capture_close(&capture);
	stackmap_client_close(NULL);
	stackmap_client_close(&client);
	stackmap_map_free(NULL);
	stackmap_map_free(&map);
}

TEST(without_a_place_nothing_is_made)
{
	const struct stackmap_capture_opts opts = {.size = sizeof(opts)};
	struct stackmap_error error = {};

	assert_int_equal(stackmap_map_create(STACKMAP_BITS_MIN, 0, NULL, &error), -EINVAL);
	assert_true(error.message[0]);
	error.message[0] = 0;
	assert_int_equal(stackmap_recording_open("/dev/null", NULL, &error), -EINVAL);
	assert_true(error.message[0]);
	error.message[0] = 0;
	assert_int_equal(stackmap_capture_open(&opts, NULL, &error), -EINVAL);
	assert_true(error.message[0]);
}

TEST(without_a_map_there_are_no_ids)
{
	const uint64_t frame = 1;
	struct stackmap_map_stat stat;
	struct stackmap_stack stack;
	struct stackmap_map *map;

	assert_int_equal(stackmap_map_get_id(NULL, &frame, 1), -EINVAL);
	assert_int_equal(stackmap_map_find(NULL, 1, &stack, NULL, 0), -EINVAL);
	assert_int_equal(stackmap_map_reset(NULL, NULL), -EINVAL);
	stackmap_map_stat(NULL, &stat);
	assert_int_equal(stackmap_map_create(STACKMAP_BITS_MIN, 0, &map, NULL), 0);
	assert_int_equal(stackmap_map_get_id(map, NULL, 1), -EINVAL);
	assert_int_equal(stackmap_map_find(map, 1, NULL, NULL, 0), -EINVAL);
	assert_int_equal(stackmap_map_find(map, 1, &stack, NULL, 1), -EINVAL);
	stackmap_map_stat(map, NULL);
	stackmap_map_free(&map);
}

static int keep_no_event(void *arg, const struct stackmap_event *event)
{
	(void)arg;
	(void)event;
	return 0;
}

TEST(a_null_recording_has_no_content)
{
	const struct stackmap_event event = {};
	struct stackmap_error error = {};

	assert_int_equal(stackmap_recording_events(NULL, keep_no_event, NULL, &error), -EINVAL);
	assert_true(error.message[0]);
	assert_int_equal(stackmap_recording_event_frames(NULL, &event, NULL, 0), -EINVAL);
	assert_int_equal(stackmap_recording_source_count(NULL), 0);
	assert_int_equal(stackmap_recording_task_count(NULL), 0);
	assert_int_equal(stackmap_recording_stack_count(NULL), 0);
	assert_null(stackmap_recording_source(NULL, 0));
	assert_null(stackmap_recording_task(NULL, 0));
	assert_null(stackmap_recording_task_at(NULL, 1, 0));
	assert_null(stackmap_recording_stack(NULL, 0));
	assert_null(stackmap_recording_frame(NULL, 1, 0));
	assert_null(stackmap_recording_info(NULL));
	assert_null(stackmap_recording_damage(NULL));
	assert_null(stackmap_recording_ledger(NULL));
}

TEST(without_a_capture_nothing_is_recorded)
{
	struct stackmap_recording *recording = NULL;

	assert_int_equal(stackmap_capture_start(NULL, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_poll(NULL, 0, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_next(NULL, 0, &recording, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_stop(NULL, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_snapshot(NULL, "f", NULL), -EINVAL);
	assert_int_equal(stackmap_capture_is_over(NULL), 0);
	assert_null(stackmap_capture_ledger(NULL));
}

TEST(without_a_client_nothing_is_found)
{
	struct stackmap_stack stack;
	uint64_t offset;
	char path[16];

	assert_int_equal(stackmap_client_start(NULL, NULL), -EINVAL);
	assert_int_equal(stackmap_client_find(NULL, 1, &stack, NULL, 0), -EINVAL);
	assert_int_equal(stackmap_client_place(NULL, 1, path, sizeof(path), &offset), -EINVAL);
}
