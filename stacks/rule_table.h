/*
 * rules: the rule of every return address that was met, in one table for all threads.
 *
 * Entries are only added; an address whose module went away loses its rule.  Bounded: when the table is full, rules of further
 * addresses are made each time, and that is counted.
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
	uint64_t rule; /* atomic; GP_RULE_UNKNOWN = to be made again */
};

extern struct gp_rule_entry *gp_rule_table_entries; /* NULL before gp_rule_table_init() */

/* Told of each module in which a frame is met for the first time, on the thread that executes in it. */
typedef void (*gp_rule_table_notice)(const struct gp_module *module);

/* Once, before the first look-up.  0 or -ENOMEM. */
int gp_rule_table_init(gp_rule_table_notice notice);

/* Make the rule of a return address that is on the caller's own stack, and keep it.  Slow; keeps errno. */
uint64_t gp_rule_table_learn(uint64_t pc);

/*
 * The module that a return address on the caller's own stack lies in; who is to be told of it is.  False: it is in none.  Slow.
 */
bool gp_rule_table_module(uint64_t pc, struct gp_module *module);

/* Forget what was learned before this epoch of gp_modules_epoch(). */
void gp_rule_table_follow_epoch(uint32_t epoch);

/*
 * The row of unwind information that holds for a return address: the one of the call before it.  Where a function begins at the
 * address itself, nothing called it: somebody made this stack by hand (a fiber's first frame, a signal's), and it ends there unless the row
 * says that a signal came.
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
