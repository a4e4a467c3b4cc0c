/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/duration.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "number_list.h"

#define NAP_MS_MAX 100
#define NS_PER_S (1000 * NS_PER_MS)

/* The unit of a time, in milliseconds; 0: unknown unit. */
static u64 time_unit_ms(const char *name)
{
	static const struct {
		const char *name;
		u64 ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].ms;
	return 0;
}

bool duration_parse_ms(const char *word, u64 *ms)
{
	size_t digits = strspn(word, "0123456789");
	u64 unit = time_unit_ms(word + digits);
	char number[16] = "";
	u64 count;

	if (!unit || !digits || digits >= sizeof(number))
		return false;
	memcpy(number, word, digits);
	if (number_parse(number, false, &count) || !count || count > UINT32_MAX)
		return false;
	*ms = count * unit;
	return true;
}

/*
 * Parses a date and time. Sets only the members of `fields` that the word has. False: the word has
 * another form.
 */
static bool parse_date_and_time(const char *word, struct tm *fields, bool *has_date, bool *is_utc)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%H:%M:%S",
					      "%H:%M"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm parsed = *fields;
		const char *end = strptime(word, formats[i], &parsed);

		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		*fields = parsed;
		*has_date = formats[i][1] == 'Y';
		*is_utc = *end;
		return true;
	}
	return false;
}

static time_t seconds_since_epoch(struct tm *fields, bool is_utc)
{
	fields->tm_isdst = -1;
	return is_utc ? timegm(fields) : mktime(fields);
}

int instant_parse(const char *word, u64 now, u64 *instant, struct stackmap_error *error)
{
	bool is_utc = word[0] && word[strlen(word) - 1] == 'Z', has_date;
	time_t begin = now, seconds;
	struct tm fields;

	if (is_utc)
		gmtime_r(&begin, &fields);
	else
		localtime_r(&begin, &fields);
	fields.tm_sec = 0;
	if (!parse_date_and_time(word, &fields, &has_date, &is_utc))
		return error_set(error, EINVAL,
				 "--at %s: not a time like 12:00, 12:00:30 or 2026-11-28T12:00Z",
				 word);
	seconds = seconds_since_epoch(&fields, is_utc);
	if (!has_date && seconds <= begin) {
		fields.tm_mday++;
		seconds = seconds_since_epoch(&fields, is_utc);
	}
	if (seconds <= begin)
		return error_set(error, ERANGE, "--at %s: that has passed", word);
	if ((u64)seconds > UINT64_MAX / NS_PER_S)
		return error_set(error, ERANGE, "--at %s: that is too far away", word);
	*instant = (u64)seconds * NS_PER_S;
	return 0;
}

int instant_await(u64 instant)
{
	for (;;) {
		u64 now = clock_ns(CLOCK_REALTIME);
		u64 left_ms = now < instant ? (instant - now) / NS_PER_MS : 0;

		if (now >= instant)
			return 0;
		if (interrupted())
			return -EINTR;
		sleep_until_timeout_or_signal(left_ms > NAP_MS_MAX ? NAP_MS_MAX : left_ms ?: 1);
	}
}
