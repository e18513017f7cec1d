/*
 * ranges: what the program says it is doing, from NVTX or from gpuprof's own functions, as records of its thread.
 *
 * The first range of a process makes its trace, also without any GPU use.  Then a push or a pop costs some tens of ns:
 * no lock, no allocation, no system call.  Any thread; errno is kept.
 */
#ifndef INJECT_RANGES_H
#define INJECT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/text_table.h"
#include "gpuprof/record.h"

/* Levels are counted in this many domains; push and pop return GP_LEVEL_UNKNOWN in further ones. */
#define GP_LEVEL_DOMAINS 32
#define GP_LEVEL_UNKNOWN (-2)
#define GP_LEVEL_NONE    (-1) /* a pop without a push */

/* A message, NUL-terminated.  Either as it is, or kept before: then `kept` alone counts. */
struct gp_message {
	const char *bytes; /* NULL = none */
	uint32_t length_bytes;
	struct gp_known_text *kept;
};

/* What a range may have besides its message.  Fields as in struct gp_record_range. */
struct gp_range_details {
	uint8_t flags;
	uint32_t category;
	uint32_t color_argb;
	uint32_t payload_kind;
	uint64_t payload;
	uint32_t payload_id;
};

/* ---- domains: NULL is the default one ---- */

/* The domain of this name, for good.  NULL, the default one, where too many are known or the name is NULL. */
struct gp_known_text *gp_ranges_domain(const char *name, uint32_t length_bytes);

/* The domain that a program means by a handle; the default one where it is none of ours. */
struct gp_known_text *gp_ranges_known_domain(uint64_t handle);

/* A message that will come again; NULL: there was no room. */
struct gp_known_text *gp_ranges_keep(const char *bytes, uint32_t length_bytes);

/* Whether there ever was none. */
bool gp_ranges_refused(void);

/* The kept message that a program means by a handle; NULL where it is none of ours. */
struct gp_known_text *gp_ranges_kept(uint64_t handle);

/* Its number in the recording that is live. */
uint32_t gp_ranges_text_id(const struct gp_message *message);

/* ---- events; details may be NULL; payload_id: what a range is told at its end, 0 = nothing ---- */

/* Both return the 0-based level of the range within its domain and thread. */
int gp_ranges_push(struct gp_known_text *domain, const struct gp_message *message,
		   const struct gp_range_details *details);
int gp_ranges_pop(struct gp_known_text *domain, uint32_t payload_id);

/* Whether the next pop, or the end of that range, is recorded: what else it tells is worth reading. */
bool gp_ranges_records_pop(const struct gp_known_text *domain);
bool gp_ranges_records_end(uint64_t range_id);

/* Returns a number that is unique in this process and its forked children, never 0. */
uint64_t gp_ranges_start(struct gp_known_text *domain, const struct gp_message *message,
			 const struct gp_range_details *details);
void gp_ranges_end(struct gp_known_text *domain, uint64_t range_id, uint32_t payload_id);
void gp_ranges_mark(struct gp_known_text *domain, const struct gp_message *message,
		    const struct gp_range_details *details);

/* By the constructor: ranges are looked at, and recorded, or looked at alone. */
void gp_ranges_enable(bool record);
bool gp_ranges_are_enabled(void);

/*
 * Whether a range that begins now is recorded: the gate is open and there is a trace; the first that asks makes it.  What
 * began while the gate was open is recorded to its end.
 */
bool gp_ranges_wanted(void);

/* ---- for whoever waits for a certain range ---- */

struct gp_range_event {
	enum gp_range_op op; /* all but MARK */
	const char *domain;  /* its name, "" = the default one */
	const char *message; /* of PUSH and START, NULL = none */
	int level;           /* of PUSH and POP */
	uint64_t range_id;   /* of START and END */
};

/*
 * Have a function called for each push and start before it is recorded, and for each pop and end after it was, on the
 * program's thread, whether anything is recorded or not.  It may be called before and after this returns.  NULL: for none.
 * Without one, this costs one test.
 */
void gp_ranges_watch(void (*watcher)(const struct gp_range_event *event));

#endif
