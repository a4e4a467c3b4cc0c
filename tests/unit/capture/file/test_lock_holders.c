/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The holder of a lock, found by the lock's words in each C library. */
#include "capture/file/lock_holders.h"

#include <linux/futex.h>

#include "unit_test.h"

static u32 lock_holder_of_words(u32 word, u32 behind, u32 owner, u32 operation)
{
	const u32 words[] = {word, behind, owner};

	return futex_lock_holder(words, operation);
}

TEST(a_mutex_of_glibc_has_its_owner_after_the_futex_word)
{
	assert_int_equal(lock_holder_of_words(2, 1, 1234, FUTEX_WAIT | FUTEX_PRIVATE_FLAG), 1234);
	assert_int_equal(lock_holder_of_words(2, 0, 1234, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME),
			 1234);
}

TEST(a_mutex_with_priority_inheritance_is_its_owner)
{
	assert_int_equal(lock_holder_of_words(1234 | FUTEX_WAITERS, 0, 99, FUTEX_LOCK_PI), 1234);
	assert_int_equal(lock_holder_of_words(1234, 0, 99, FUTEX_LOCK_PI2 | FUTEX_PRIVATE_FLAG),
			 1234);
}

TEST(a_recursive_mutex_of_musl_is_its_owner)
{
	assert_int_equal(lock_holder_of_words(1234 | FUTEX_WAITERS, 7, 8, FUTEX_WAIT), 1234);
}

TEST(other_futexes_have_no_holder)
{
	assert_int_equal(lock_holder_of_words(0, 0, 1234, FUTEX_WAIT), 0);
	assert_int_equal(lock_holder_of_words(1, 0, 1234, FUTEX_WAIT), 0);
	assert_int_equal(lock_holder_of_words(2, 0, 1234, FUTEX_WAIT_REQUEUE_PI), 0);
	assert_int_equal(lock_holder_of_words(2, 0, 1234, FUTEX_WAKE), 0);
}
