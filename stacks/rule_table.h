/*
 * rule_table: the unwind rules of all known return addresses, shared by all threads.
 *
 * Entries are only added; an address of an unloaded module loses its rule.  Bounded: if the table
 * is full, rules of further addresses are computed each time, which is counted.
 */
#ifndef STACKS_RULE_TABLE_H
#define STACKS_RULE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/atomic.h"
#include "stacks/cfi.h"
#include "stacks/modules.h"
#include "stacks/unwind_rule.h"

#define GP_RULE_TABLE_BITS  17u
#define GP_RULE_TABLE_LIMIT (1u << GP_RULE_TABLE_BITS)

struct gp_rule_entry {
	uint64_t pc;   /* atomic; 0 = free */
	uint64_t rule; /* atomic; GP_RULE_UNKNOWN = compute it again */
};

extern struct gp_rule_entry *gp_rule_table_entries; /* NULL before gp_rule_table_init() */

/*
 * Called for each module with a frame, on the thread that executes in it; for one that may be an
 * interpreter at each new address.
 */
typedef void (*gp_rule_table_notice)(const struct gp_module *module);

/* Once, before the first search.  0 or -ENOMEM. */
int gp_rule_table_init(gp_rule_table_notice notice);

/* For gp_stack_forget(): nothing is known, and the memory is free; init may come again. */
void gp_rule_table_forget(void);

/*
 * Compute and store the rule of a return address on the caller's own stack.  Slow; preserves errno.
 */
uint64_t gp_rule_table_learn(uint64_t pc);

/*
 * The module of a return address on the caller's own stack; notifies the callback about a new
 * module.  False: in no module.  Slow.
 */
bool gp_rule_table_module(uint64_t pc, struct gp_module *module);

/* Forget rules from before this epoch of gp_modules_epoch(). */
void gp_rule_table_follow_epoch(uint32_t epoch);

/*
 * The row of unwind information for a return address: that of the call before it.  If a function
 * begins at the address itself, no call precedes it: the stack was built by hand (the first frame
 * of a fiber, or of a signal), and ends there unless the row marks a signal frame.
 */
bool gp_rule_table_row(const struct gp_module *module, uint64_t pc, struct gp_cfi_row *row);

static inline uint32_t gp_rule_table_slot(uint64_t pc)
{
	return (uint32_t)((pc * 0x9e3779b97f4a7c15u) >> (64 - GP_RULE_TABLE_BITS));
}

/* The rule of a return address; any thread. */
static inline uint64_t gp_rule_table_find(uint64_t pc)
{
	for (uint32_t at = gp_rule_table_slot(pc);; at = (at + 1) & (GP_RULE_TABLE_LIMIT - 1)) {
		const struct gp_rule_entry *entry = &gp_rule_table_entries[at];
		uint64_t found = gp_load64_acquire(&entry->pc);

		if (found == pc) {
			uint64_t rule = gp_load64(&entry->rule);

			return rule != GP_RULE_UNKNOWN ? rule : gp_rule_table_learn(pc);
		}
		if (found == 0)
			return gp_rule_table_learn(pc);
	}
}

#endif
