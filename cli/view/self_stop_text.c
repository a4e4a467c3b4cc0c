/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/self_stop_text.h"

#include <stdio.h>
#include <time.h>

#include "terminal/message.h"

const char *self_stop_time(const struct self_stop *stop, char *text, size_t bytes)
{
	time_t seconds = stop->realtime / 1000000000;
	struct tm local;
	size_t length = 0;

	if (localtime_r(&seconds, &local))
		length = strftime(text, bytes, "%F %T", &local);
	snprintf(text + length, bytes - length, ".%06u", (u32)(stop->realtime / 1000 % 1000000));
	return text;
}

void self_stop_tell_once(struct capture *capture, const char *instance, u64 *told)
{
	struct self_stop stop;
	char time[48];

	self_stop_read(capture_loaded(capture), &stop);
	if (!stop.is_over || stop.time == *told)
		return;
	*told = stop.time;
	message("%s: stopped by %s at %s; 'stackmap resume %s' starts it again", instance,
		stop.name, self_stop_time(&stop, time, sizeof(time)), instance);
}

void self_stop_tell(struct capture *capture, const char *instance)
{
	u64 told = 0;

	self_stop_tell_once(capture, instance, &told);
}
