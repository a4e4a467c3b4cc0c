/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two clocks are read one after the other: what lies between them is below any use of it. */
#include "capture/recording_info.h"

#include <unistd.h>

#include "capture/load/loaded.h"
#include "clock.h"
#include "product_version.h"
#include "symbol/kernel/kernel_image.h"

void recording_info_init(struct recording_info *info, struct capture *capture, u64 frequency,
			 const char *command)
{
	*info = (struct recording_info){
		.info =
			{
				.start_realtime = clock_ns(CLOCK_REALTIME),
				.start_monotonic = clock_ns(CLOCK_MONOTONIC),
				.frequency = frequency,
				.cpus = sysconf(_SC_NPROCESSORS_CONF),
				.bits = capture_loaded(capture)->plan.config.bits,
				.address_shown = kernel_image_shown(capture_kernel_files(capture)),
				.hostname = info->hostname,
				.kernel = info->kernel.release,
				.machine = info->kernel.machine,
				.command = command,
				.version = STACKMAP_VERSION,
			},
	};
	uname(&info->kernel);
	gethostname(info->hostname, sizeof(info->hostname) - 1);
}
