/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/nameless.h"

#include "symbol/file/file_owner.h"
#include "symbol/symbolizer/symbolizers.h"
#include "terminal/message.h"

void nameless_tell(struct capture *capture)
{
	struct symbolizers_trouble trouble;

	while (capture_tell_trouble(capture, &trouble)) {
		if (trouble.owner == FILE_OWNER_KERNEL) {
			message("the kernel's symbols were not read in time: its frames have no "
				"names");
			continue;
		}
		message("%s %llu: %llu files gave no names (slow, damaged or too large), one of "
			"them %s",
			trouble.owner & FILE_OWNER_MOUNT ? "device" : "user",
			(unsigned long long)(trouble.owner & ~FILE_OWNER_MOUNT),
			(unsigned long long)trouble.files, trouble.path);
	}
}
