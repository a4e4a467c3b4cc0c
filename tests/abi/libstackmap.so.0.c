/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface that programs of libstackmap.so.0 were compiled with: a library of empty functions,
 * which compare.sh compares with the real one by abidiff. The file is written by hand.
 *
 * Released declarations stay unchanged as long as the library is called libstackmap.so.0. A new
 * function gets its line, under the version that brought it. A struct that only the library makes,
 * or that has a size in it, may get members at its end. Any other change makes a new interface: the
 * library gets a new soversion, and this file starts anew.
 */
#include <stddef.h>
#include <stdint.h>

#define INTERFACE(version, result, name, ...)                                                      \
	result name(__VA_ARGS__)                                                                   \
	{                                                                                          \
		__builtin_trap();                                                                  \
	}

struct bpf_object;
struct stackmap_capture;
struct stackmap_client;
struct stackmap_map;
struct stackmap_recording;

struct stackmap_error {
	char message[512];
	uint64_t offset;
};

/* stackmap/here.h */
INTERFACE("STACKMAP_0.1", int, stackmap_here, uint64_t *frames, int max)

/* stackmap/stack_map.h */
struct stackmap_stack {
	uint64_t ref_count;
	uint32_t depth;
	int truncated;
};

struct stackmap_map_stat {
	uint64_t generation;
	uint64_t entries;
	uint64_t max_entries;
	uint64_t pool_used;
	uint64_t pool_max;
	uint64_t refs;
	uint64_t inserts;
	uint64_t drops[4];
	uint64_t lost_races;
};

INTERFACE("STACKMAP_0.1", int, stackmap_map_create, unsigned int bits, uint64_t pool_bytes,
	  struct stackmap_map **out, struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", void, stackmap_map_free, struct stackmap_map **map)
INTERFACE("STACKMAP_0.1", int64_t, stackmap_map_get_id, struct stackmap_map *map,
	  const uint64_t *frames, uint32_t depth)
INTERFACE("STACKMAP_0.1", int, stackmap_map_find, struct stackmap_map *map, uint32_t id,
	  struct stackmap_stack *stack, uint64_t *frames, uint32_t max)
INTERFACE("STACKMAP_0.1", void, stackmap_map_stat, struct stackmap_map *map,
	  struct stackmap_map_stat *stat)
INTERFACE("STACKMAP_0.1", int, stackmap_map_reset, struct stackmap_map *map,
	  struct stackmap_map_stat *old)

/* stackmap/client.h */
INTERFACE("STACKMAP_0.1", int, stackmap_client_open, struct bpf_object *object, unsigned int bits,
	  struct stackmap_client **out, struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", int, stackmap_client_start, struct stackmap_client *client,
	  struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", int, stackmap_client_find, struct stackmap_client *client, uint32_t id,
	  struct stackmap_stack *stack, uint64_t *frames, uint32_t max)
INTERFACE("STACKMAP_0.1", int, stackmap_client_place, const struct stackmap_client *client,
	  uint64_t frame, char *path, size_t path_bytes, uint64_t *offset)
INTERFACE("STACKMAP_0.1", void, stackmap_client_close, struct stackmap_client **client)

/* stackmap/recording.h */
struct stackmap_recording_info {
	uint64_t start_realtime;
	uint64_t start_monotonic;
	uint64_t frequency;
	uint32_t cpus;
	const char *hostname;
	const char *kernel;
	const char *machine;
	const char *command;
	const char *version;
	int is_summary;
};

struct stackmap_source {
	const char *name;
	const char *unit;
};

struct stackmap_task {
	uint64_t time;
	uint32_t tid;
	uint32_t pid;
	const char *comm;
	const char *cgroup;
};

struct stackmap_call_stack {
	const uint64_t *frames;
	uint32_t depth;
	int in_kernel;
	int cut;
	const char *end;
};

struct stackmap_frame {
	uint64_t frame;
	int in_kernel;
	const char *label;
	const char *function;
	uint64_t offset;
	const char *object;
	uint64_t address;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
};

struct stackmap_event {
	uint64_t time;
	uint64_t value;
	uint64_t leaf;
	uint32_t source;
	uint32_t tid;
	uint32_t cpu;
	uint32_t kernel_stack;
	uint32_t user_stack;
	int kernel_cut;
	int user_cut;
	const char *kernel_end;
	const char *user_end;
	uint32_t repeats;
	int is_counted_only;
};

/* The struct cannot grow, as the library gives out arrays of it. */
struct stackmap_count {
	const char *name;
	const char *meaning;
	uint64_t count;
};

struct stackmap_ledger {
	uint64_t produced;
	uint64_t recorded;
	const struct stackmap_count *lost;
	const struct stackmap_count *without_kernel;
	const struct stackmap_count *without_user;
	const struct stackmap_count *user_ends;
	const struct stackmap_count *notes;
	uint64_t counted_only;
};

INTERFACE("STACKMAP_0.1", int, stackmap_recording_open, const char *path,
	  struct stackmap_recording **out, struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", void, stackmap_recording_close, struct stackmap_recording **recording)
INTERFACE("STACKMAP_0.1", const struct stackmap_error *, stackmap_recording_damage,
	  const struct stackmap_recording *recording)
INTERFACE("STACKMAP_0.1", const struct stackmap_recording_info *, stackmap_recording_info,
	  const struct stackmap_recording *recording)
INTERFACE("STACKMAP_0.1", uint32_t, stackmap_recording_source_count,
	  const struct stackmap_recording *recording)
INTERFACE("STACKMAP_0.1", const struct stackmap_source *, stackmap_recording_source,
	  const struct stackmap_recording *recording, uint32_t index)
INTERFACE("STACKMAP_0.1", uint32_t, stackmap_recording_task_count,
	  const struct stackmap_recording *recording)
INTERFACE("STACKMAP_0.1", const struct stackmap_task *, stackmap_recording_task,
	  const struct stackmap_recording *recording, uint32_t index)
INTERFACE("STACKMAP_0.1", const struct stackmap_task *, stackmap_recording_task_at,
	  const struct stackmap_recording *recording, uint32_t tid, uint64_t time)
INTERFACE("STACKMAP_0.1", uint32_t, stackmap_recording_stack_count,
	  const struct stackmap_recording *recording)
INTERFACE("STACKMAP_0.1", const struct stackmap_call_stack *, stackmap_recording_stack,
	  const struct stackmap_recording *recording, uint32_t index)
INTERFACE("STACKMAP_0.1", const struct stackmap_frame *, stackmap_recording_frame,
	  struct stackmap_recording *recording, uint64_t frame, int is_return_address)
INTERFACE("STACKMAP_0.1", int, stackmap_recording_events, struct stackmap_recording *recording,
	  int (*each)(void *arg, const struct stackmap_event *event), void *arg,
	  struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", int, stackmap_recording_event_frames,
	  struct stackmap_recording *recording, const struct stackmap_event *event,
	  const struct stackmap_frame **frames, uint32_t max)
INTERFACE("STACKMAP_0.1", const struct stackmap_ledger *, stackmap_recording_ledger,
	  const struct stackmap_recording *recording)

/* stackmap/capture.h */
struct stackmap_capture_opts {
	size_t size;
	const char *path;
	const char *const *events;
	uint64_t frequency;
	const int32_t *pids;
	const char *comm;
	const char *cgroup;
	const char *cpus;
	uint64_t ring_bytes;
	uint32_t bits;
	uint32_t max_depth;
	int no_kernel_stacks;
	int no_user_stacks;
	uint64_t flight_bytes;
	const char *rotate;
	uint64_t keep;
	const char *instance;
};

INTERFACE("STACKMAP_0.1", int, stackmap_capture_open, const struct stackmap_capture_opts *opts,
	  struct stackmap_capture **out, struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", int, stackmap_capture_start, struct stackmap_capture *capture,
	  struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", int, stackmap_capture_poll, struct stackmap_capture *capture,
	  unsigned int timeout_ms, struct stackmap_error *error)
INTERFACE("STACKMAP_0.2", int, stackmap_capture_snapshot, struct stackmap_capture *capture,
	  const char *path, struct stackmap_error *error)
INTERFACE("STACKMAP_0.2", int, stackmap_capture_is_over, const struct stackmap_capture *capture)
INTERFACE("STACKMAP_0.1", int, stackmap_capture_next, struct stackmap_capture *capture,
	  unsigned int timeout_ms, struct stackmap_recording **out, struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", int, stackmap_capture_stop, struct stackmap_capture *capture,
	  struct stackmap_error *error)
INTERFACE("STACKMAP_0.1", const struct stackmap_ledger *, stackmap_capture_ledger,
	  struct stackmap_capture *capture)
INTERFACE("STACKMAP_0.1", void, stackmap_capture_close, struct stackmap_capture **capture)
