/*
 * memory_sites: allocations by call site, kind of memory and device: blocks left, blocks at the
 * peak, repeated allocations, and their costs; and the calls that waited for the GPU.
 *
 * One pass over the memory events of all processes in order of time. Memory: some words for each
 * distinct stack, site and row.
 *
 *  left       Blocks that were not freed before the trace ended, frees in static destructors
 *             included.  Blocks that ended with their context are counted apart.
 *  peak       The first moment at which an account was largest: all of a device's own memory, or
 *             another kind of a device or host.  Blocks that a process did not free go when its trace
 *             ends.  A row holds its site's part of the account at that moment.
 *  temporary  The next allocation or free by the thread that allocated it was its own free.
 *  at once    The most blocks of a row at the same time: with that many, kept, all further
 *             allocations would have been spared.  The same of freed blocks alone: leaks do not
 *             raise it.
 */
#ifndef REPORT_ANALYSIS_MEMORY_MEMORY_SITES_H
#define REPORT_ANALYSIS_MEMORY_MEMORY_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/symbols/call_site.h"
#include "report/model/devices.h"
#include "report/model/memory_ledger.h"
#include "report/model/model.h"

struct gp_memory_site {
	uint32_t site;    /* for gp_call_sites_at() */
	size_t device;    /* as an account's */
	uint8_t kind;     /* enum gp_memory_kind */
	uint32_t account; /* its row of the ledger, whose peak counts: gp_memory_account() */
	uint64_t allocations, allocated_bytes;
	uint64_t frees, ended_with_context;
	uint64_t left_blocks, left_bytes;
	uint64_t now_blocks, now_bytes; /* during the pass; those of ended processes are off */
	uint64_t now_to_free;           /* of these blocks, the ones that are not left */
	uint64_t blocks_at_once, freed_at_once;
	uint64_t peak_blocks, peak_bytes; /* at its account's peak */
	uint64_t temporary;
	uint64_t allocate_ns,
		/*
		 * in the calls, without contexts that these made first; the frees of these blocks
		 */
		free_ns;
	uint64_t lived_ns;   /* of those that were freed, all together */
	uint64_t peaks_seen; /* peak_ is of that one of the account's peaks */
};

/* Calls of one API function and site that allocate or free. */
struct gp_memory_calls {
	uint32_t site;
	uint16_t api; /* of api_model */
	const struct gp_model *api_model;
	uint64_t calls, ns;
	uint64_t waits, waited_ns, longest_ns; /* those that waited for the GPU, and how long */
};

struct gp_memory_sites {
	struct gp_call_sites *sites;
	struct gp_memory_ledger ledger; /* devices are indices in the device list */
	struct gp_memory_site *rows;
	struct gp_memory_calls *calls;
	uint32_t row_count, call_count;
	uint32_t row_capacity, call_capacity;
};

enum gp_memory_wanted {
	GP_MEMORY_ALL,
	GP_MEMORY_LEFT, /* only blocks that are left, and of these only the `left` members: fast */
};

/*
 * Why freed memory may count as left: when it was freed, for "with what was freed ..."; NULL = all
 * frees are known, "" = a trace has no end, which every output says anyway.
 */
const char *gp_memory_sites_doubt(struct gp_model *const *models, size_t model_count);

/*
 * Whether stacks tell the memory that a library keeps. With --stacks=none no call has one, nor in
 * traces of some other formats.
 */
bool gp_memory_sites_knows_owners(struct gp_model *const *models, size_t model_count);

/* Both: memory that is left and not kept by a library was never freed. */
bool gp_memory_sites_knows_leaks(struct gp_model *const *models, size_t model_count);

/*
 * Returns 0, -ENOMEM or -EOVERFLOW.  The models must outlive the result; gp_memory_sites_free() in
 * either case.
 */
int gp_memory_sites_of(struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices, enum gp_memory_wanted wanted,
		       struct gp_memory_sites *found);
void gp_memory_sites_free(struct gp_memory_sites *found);

/*
 * A block that came or went; blocks that a process did not free go when it ends, if others go on
 * after it.
 */
struct gp_memory_change {
	const struct gp_memory_site *row;
	size_t model;        /* its index */
	uint32_t allocation; /* index in the model's memory */
	uint64_t bytes;
	bool is_free;
	uint64_t unix_ns;
};

/* Called for every change, in order of time. */
struct gp_memory_watcher {
	void (*see)(void *context, const struct gp_memory_change *change);
	void *context;
};

/* gp_memory_sites_of() of all, watched by somebody. */
void gp_memory_sites_watch(struct gp_model *const *models, size_t model_count,
			   struct gp_device_list *devices, const struct gp_memory_watcher *watcher,
			   struct gp_memory_sites *found);

/*
 * Whether the program never freed the left blocks of a row: they are neither another process's
 * memory nor a library's.
 */
bool gp_memory_site_is_leak(const struct gp_memory_sites *found, const struct gp_memory_site *row);

#endif
