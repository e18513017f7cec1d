/*
 * parts: a large trace, one part of its time after the other, so that the whole is never in memory.
 *
 * Each part is a model of its own, with the same definitions, threads and times. Events that begin
 * in its time are its own (struct gp_part); it also holds the events that these need. A range or
 * allocation that lasts for many parts belongs to the part in which it begins.
 *
 * While the caller uses one part, a thread loads the next. A program that is to stay small lets
 * malloc() map large blocks (mallopt(), M_MMAP_THRESHOLD); else both threads keep their freed
 * memory.
 */
#ifndef REPORT_LOAD_PARTS_H
#define REPORT_LOAD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/model/slice_filter.h"

#define GP_PARTS_EVENTS UINT64_C(2000000) /* as a rule, in each */

struct gp_parts;

struct gp_parts_wish {
	uint64_t events; /* about so many are in memory at a time */
	/* each part has all allocations, so that it knows the peak of memory */
	bool with_memory;
};

/*
 * Cuts the chosen time of a trace into parts. Returns 0; -ENOTSUP: this trace must be loaded as a
 * whole (report/model/chunk_index.h); or another negative errno value.
 */
int gp_parts_open(const char *path, const struct gp_slice_choice *choice,
		  const struct gp_parts_wish *wish, struct gp_parts **parts);
void gp_parts_close(struct gp_parts *parts);

size_t gp_parts_count(const struct gp_parts *parts);

/*
 * Where `count` stretches of time begin that hold about as many events each, of all that is chosen:
 * the first is that of the choice, the others are later than 0.  0 or -ENOMEM.
 */
int gp_parts_cut(const struct gp_parts *parts, uint64_t *starts, uint32_t count);

/*
 * The parts in which something begins of such a stretch (to_ns 0 = to the end): how many, from
 * *first on.
 */
size_t gp_parts_between(const struct gp_parts *parts, uint64_t from_ns, uint64_t to_ns,
			size_t *first);

/* As gp_export_source's; NULL: it cannot be read, and gp_parts_trouble() says why. */
const struct gp_model *gp_parts_get(void *parts, size_t index);

/* A line for the user, or NULL: all parts that were asked for were there. */
const char *gp_parts_trouble(const struct gp_parts *parts);

#endif
