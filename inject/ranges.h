/*
 * ranges: the ranges and marks of the program, from NVTX or gpuprof's own functions, as records of
 * its thread.
 *
 * The first range of a process starts its trace, even without any GPU use.  After that a push or a
 * pop costs some tens of ns: no lock, no allocation, no system call.  Any thread; errno is
 * preserved.
 */
#ifndef INJECT_RANGES_H
#define INJECT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/text_table.h"
#include "gpuprof/record.h"

/* Levels are counted in this many domains; push and pop return GP_LEVEL_UNKNOWN in others. */
#define GP_LEVEL_DOMAINS 32
#define GP_LEVEL_UNKNOWN (-2)
#define GP_LEVEL_NONE    (-1) /* a pop without a push */

/*
 * A message, NUL-terminated.  Either plain bytes or a kept text: if `kept` is set, the other
 * members are ignored.
 */
struct gp_message {
	const char *bytes; /* NULL = none */
	uint32_t length_bytes;
	struct gp_known_text *kept;
};

/* The attributes of a range besides its message.  Fields as in struct gp_record_range. */
struct gp_range_details {
	uint8_t flags;
	uint32_t category;
	uint32_t color_argb;
	uint32_t payload_kind;
	uint64_t payload;
	uint32_t payload_id;
};

/* ---- domains: NULL is the default one ---- */

/*
 * The permanent domain of this name.  NULL, the default one, if too many are known or the name is
 * NULL.
 */
struct gp_known_text *gp_ranges_domain(const char *name, uint32_t length_bytes);

/* The domain of a handle; the default one if the handle is not ours. */
struct gp_known_text *gp_ranges_known_domain(uint64_t handle);

/* Keep a message that will be used again; NULL: the table is full. */
struct gp_known_text *gp_ranges_keep(const char *bytes, uint32_t length_bytes);

/* Whether keeping a message ever failed. */
bool gp_ranges_refused(void);

/* The kept message of a handle; NULL if the handle is not ours. */
struct gp_known_text *gp_ranges_kept(uint64_t handle);

/* Its id in the current recording. */
uint32_t gp_ranges_text_id(const struct gp_message *message);

/* ---- events; details may be NULL; payload_id: the payload at the end of a range, 0 = none ---- */

/* Both return the 0-based level of the range within its domain and thread. */
int gp_ranges_push(struct gp_known_text *domain, const struct gp_message *message,
		   const struct gp_range_details *details);
int gp_ranges_pop(struct gp_known_text *domain, uint32_t payload_id);

/*
 * Whether the next pop, or the end of that range, is recorded, so that its payload is worth
 * reading.
 */
bool gp_ranges_records_pop(const struct gp_known_text *domain);
bool gp_ranges_records_end(uint64_t range_id);

/* Returns an id that is unique in this process and its forked children, never 0. */
uint64_t gp_ranges_start(struct gp_known_text *domain, const struct gp_message *message,
			 const struct gp_range_details *details);
void gp_ranges_end(struct gp_known_text *domain, uint64_t range_id, uint32_t payload_id);
void gp_ranges_mark(struct gp_known_text *domain, const struct gp_message *message,
		    const struct gp_range_details *details);

/* By the constructor: watch ranges, and record them if `record`. */
void gp_ranges_enable(bool record);
bool gp_ranges_are_enabled(void);

/*
 * Whether a range that begins now is recorded: the gate is open and there is a trace, which the
 * first call creates.  A range that began while the gate was open is recorded to its end.
 */
bool gp_ranges_wanted(void);

/* ---- for the watcher of ranges ---- */

struct gp_range_event {
	enum gp_range_op op; /* all but MARK */
	const char *domain;  /* its name, "" = the default one */
	const char *message; /* for PUSH and START, NULL = none */
	int level;           /* for PUSH and POP */
	uint64_t range_id;   /* for START and END */
};

/*
 * Set a function that is called for each push and start before it is recorded, and for each pop and
 * end after it was, on the program's thread, whether anything is recorded or not.  Calls may
 * overlap this call.  NULL: none; then the cost is one test.
 */
void gp_ranges_watch(void (*watcher)(const struct gp_range_event *event));

#endif
