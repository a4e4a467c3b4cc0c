/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel detaches a link some time after its last pin is gone. instance_stop() waits until no
 * link has the id of one that was pinned. */
#include "capture/instance/stop.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "array.h"
#include "capture/bpffs/engine_folder.h"
#include "scalar.h"

#define WAIT_TRIES 500
#define WAIT_PAUSE_MS 2

struct link_ids {
	struct folder *folder;
	u32 *ids;
	u32 count, room;
};

/* Notes the id of a link; a link without a known id is not waited for. */
static int add_link(void *arg, const char *pin)
{
	struct link_ids *links = arg;
	struct bpf_link_info info = {};
	u32 bytes = sizeof(info);
	int fd = bpf_obj_get(folder_pin_path(links->folder, pin)), err;

	if (fd < 0)
		return 0;
	err = array_make_room(links->ids, links->count, links->room);
	if (!err && !bpf_obj_get_info_by_fd(fd, &info, &bytes))
		links->ids[links->count++] = info.id;
	close(fd);
	return err;
}

static bool is_gone(u32 id)
{
	int fd = bpf_link_get_fd_by_id(id);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static void wait_until_gone(const struct link_ids *links)
{
	const struct timespec pause = {.tv_nsec = WAIT_PAUSE_MS * 1000000L};
	u32 next = 0;

	for (int try = 0; try < WAIT_TRIES && next < links->count; try++) {
		while (next < links->count && is_gone(links->ids[next]))
			next++;
		if (next < links->count)
			nanosleep(&pause, NULL);
	}
}

int instance_stop(struct folder *folder, struct stackmap_error *error)
{
	struct link_ids links = {.folder = folder};
	int result;

	folder_pins(folder, "link_", add_link, &links);
	result = folder_remove(folder, error);
	if (!result)
		wait_until_gone(&links);
	free(links.ids);
	engine_sweep();
	return result;
}
