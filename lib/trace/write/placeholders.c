/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An array of slots. The free slots are in a list. */
#include "trace/write/placeholders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* The slot of a placeholder's name, or NULL. There are at most 2^30 slots, so TRACE_NO_STACK is
 * never a name. */
static struct placeholder *find_slot_of_placeholder(const struct placeholders *placeholders,
						    u32 name)
{
	u32 slot = name & ~TRACE_PLACEHOLDER;

	if (!(name & TRACE_PLACEHOLDER) || slot >= placeholders->count)
		return NULL;
	return &placeholders->items[slot];
}

int placeholders_add(struct placeholders *placeholders, u32 index, u32 *name)
{
	u32 slot = placeholders->free - 1;

	if (placeholders->free) {
		placeholders->free = placeholders->items[slot].index;
	} else {
		if (array_make_room(placeholders->items, placeholders->count, placeholders->room))
			return -ENOMEM;
		slot = placeholders->count++;
	}
	placeholders->items[slot] = (struct placeholder){.index = index};
	*name = TRACE_PLACEHOLDER | slot;
	return 0;
}

struct placeholder *placeholders_find_unresolved(const struct placeholders *placeholders, u32 name)
{
	struct placeholder *placeholder = find_slot_of_placeholder(placeholders, name);

	return placeholder && !placeholder->resolved ? placeholder : NULL;
}

void placeholders_free(struct placeholders *placeholders)
{
	free(placeholders->items);
	memset(placeholders, 0, sizeof(*placeholders));
}

static void free_placeholder_slot_if_unused(struct placeholders *placeholders,
					    struct placeholder *placeholder)
{
	if (!placeholder->resolved || placeholder->waiting)
		return;
	placeholder->index = placeholders->free;
	placeholders->free = (u32)(placeholder - placeholders->items) + 1;
}

bool placeholders_resolve(struct placeholders *placeholders, u32 name,
			  const struct trace_resolution *resolution)
{
	struct placeholder *placeholder = find_slot_of_placeholder(placeholders, name);

	placeholder->resolved = true;
	placeholder->resolution = *resolution;
	free_placeholder_slot_if_unused(placeholders, placeholder);
	return placeholder->gone_out;
}

void placeholders_count_waiting_event(struct placeholders *placeholders, u32 name)
{
	struct placeholder *placeholder = find_slot_of_placeholder(placeholders, name);

	if (placeholder)
		placeholder->waiting++;
}

void placeholders_resolve_waiting_event(struct placeholders *placeholders,
					struct trace_event *event)
{
	struct placeholder *placeholder = find_slot_of_placeholder(placeholders, event->user);

	if (!placeholder)
		return;
	placeholder->waiting--;
	if (placeholder->resolved)
		event_set_resolved_stack(event, &placeholder->resolution);
	free_placeholder_slot_if_unused(placeholders, placeholder);
}

void placeholders_flush(struct placeholders *placeholders, struct trace_event *events, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct placeholder *placeholder =
			find_slot_of_placeholder(placeholders, events[i].user);

		if (!placeholder)
			continue;
		placeholder->waiting--;
		if (placeholder->resolved) {
			event_set_resolved_stack(&events[i], &placeholder->resolution);
		} else {
			placeholder->gone_out = true;
			events[i].user = placeholder->index;
		}
		free_placeholder_slot_if_unused(placeholders, placeholder);
	}
}
