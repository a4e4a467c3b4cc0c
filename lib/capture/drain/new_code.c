/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs tell a mapping once (bpf/mapping/new_code.h). */
#include "capture/drain/new_code.h"

#include <errno.h>

#include <bpf/libbpf.h>

#include "capture/drain/symbols.h"
#include "capture/load/skeleton.h"

static int take(void *arg, void *data, size_t bytes)
{
	if (bytes >= sizeof(u32))
		symbols_meet_mapping(arg, *(const u32 *)data);
	return 0;
}

static const struct bpf_map *map_of(const struct recording *recording)
{
	return loaded_programs(recording->loaded)->maps.new_code;
}

int new_code_create(struct recording *recording)
{
	recording->new_code =
		ring_buffer__new(bpf_map__fd(map_of(recording)), take, recording, NULL);
	return recording->new_code ? 0 : -errno;
}

void new_code_free(struct recording *recording)
{
	ring_buffer__free(recording->new_code);
	recording->new_code = NULL;
}

void new_code_take(struct recording *recording)
{
	ring_buffer__consume(recording->new_code);
}

int new_code_fd(const struct recording *recording)
{
	return bpf_map__fd(map_of(recording));
}
