#include "stacks/rule_table.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "collector/collector.h"
#include "stacks/lock.h"
#include "stacks/memory.h"

#define MOST_ENTRIES (GP_RULE_TABLE_LIMIT / 4 * 3) /* searches stay short and terminate */
#define WORD         8

struct gp_rule_entry *gp_rule_table_entries;

static gp_rule_table_notice notice_module;
static uint32_t lock; /* guards writes */
static uint32_t entry_count;
static uint32_t learned_epoch;

int gp_rule_table_init(gp_rule_table_notice notice)
{
	notice_module = notice;
	if (gp_rule_table_entries == NULL)
		gp_rule_table_entries =
			gp_memory_map(GP_RULE_TABLE_LIMIT * sizeof(struct gp_rule_entry));
	return gp_rule_table_entries != NULL ? 0 : -ENOMEM;
}

void gp_rule_table_forget(void)
{
	gp_lock(&lock);
	gp_memory_clear(gp_rule_table_entries, GP_RULE_TABLE_LIMIT * sizeof(struct gp_rule_entry));
	entry_count = 0;
	gp_unlock(&lock);
}

/* ---- from unwind information to a rule ---- */

static bool is_words(int32_t bytes, int32_t most_words)
{
	return bytes % WORD == 0 && bytes / WORD < most_words && bytes / WORD >= -most_words;
}

/* An offset from cfa that a rule can hold beside that of cfa; 0 means no offset there. */
static bool is_near(int32_t bytes)
{
	return bytes != 0 && is_words(bytes, 1 << 11);
}

#if defined(__aarch64__)
static bool is_return(int32_t bytes)
{
	return is_near(bytes);
}

/*
 * Kernels since 5.8 have no unwind information for the code to which a signal handler returns:
 * mov x8, #139; svc #0.
 */
static bool is_signal_return(uint64_t pc)
{
	static const uint32_t code[] = {0xd2801168, 0xd4000001};

	return pc % sizeof(code[0]) == 0 && gp_sys_can_read(pc) &&
	       gp_sys_can_read(pc + sizeof(code[0])) &&
	       memcmp((const void *)(uintptr_t)pc, code, sizeof(code)) == 0;
}
#else
static bool is_return(int32_t bytes)
{
	return bytes == -WORD;
}

static bool is_signal_return(uint64_t pc)
{
	(void)pc;
	return false;
}
#endif

/*
 * The expression "*(rbp + offset)": gcc's way to find the frame of a function that realigned its
 * stack.
 */
static bool reads_behind_bp(const struct gp_cfi_column *column, int32_t *offset)
{
	const uint8_t *code = column->expression;

	if (column->how != GP_CFI_AT_EXPRESSION || column->expression_bytes != 3 ||
	    code[0] != 0x70 + GP_REGISTER_FP || code[2] != 0x06 || (code[1] & 0x80))
		return false;
	*offset = (int32_t)((uint32_t)code[1] << 25) >> 25; /* one byte of a signed LEB128 */
	return is_words(*offset, INT16_MAX);
}

/* The expression "rbp": the word there is the caller's rbp. */
static bool is_at_bp(const struct gp_cfi_column *column)
{
	const uint8_t *code = column->expression;

	return column->how == GP_CFI_AT_EXPRESSION && column->expression_bytes == 2 &&
	       code[0] == 0x70 + GP_REGISTER_FP && code[1] == 0;
}

static uint64_t realigned(const struct gp_cfi_row *row)
{
	const struct gp_cfi_column *bp = &row->columns[GP_REGISTER_FP];
	int32_t offset;

	if (!reads_behind_bp(&row->cfa, &offset) || !is_at_bp(bp))
		return gp_rule_pack(GP_RULE_IRREGULAR, 0, 0);
	return gp_rule_pack(GP_RULE_REALIGNED, offset / WORD, 0);
}

static uint64_t regular(const struct gp_cfi_row *row)
{
	const struct gp_cfi_column *bp = &row->columns[GP_REGISTER_FP];
	bool by_sp = row->cfa_register == GP_REGISTER_SP;
	bool bp_is_kept = bp->how == GP_CFI_SAME;
	bool bp_is_saved = bp->how == GP_CFI_AT_OFFSET && is_near(bp->offset);

	if ((!by_sp && row->cfa_register != GP_REGISTER_FP) || (!bp_is_kept && !bp_is_saved) ||
	    !is_words(row->cfa.offset, GP_RULE_MOST_OFFSET))
		return gp_rule_pack(GP_RULE_IRREGULAR, 0, 0);
	return gp_rule_pack(by_sp ? GP_RULE_SP : GP_RULE_BP, row->cfa.offset / WORD,
			    bp_is_saved ? bp->offset / WORD : 0);
}

static uint64_t rule_of(const struct gp_cfi_row *row)
{
	const struct gp_cfi_column *ra = &row->columns[GP_REGISTER_RA];

	if (row->is_signal)
		return gp_rule_pack(GP_RULE_SIGNAL, 0, 0);
	if (ra->how == GP_CFI_UNDEFINED)
		return gp_rule_pack(GP_RULE_END, 0, 0);
	if (ra->how != GP_CFI_AT_OFFSET || !is_return(ra->offset))
		return gp_rule_pack(GP_RULE_IRREGULAR, 0, 0);
	return row->cfa.how == GP_CFI_AT_EXPRESSION
		       ? realigned(row)
		       : gp_rule_with_return(regular(row), ra->offset / WORD);
}

bool gp_rule_table_row(const struct gp_module *module, uint64_t pc, struct gp_cfi_row *row)
{
	if (module->unwind == NULL)
		return false;
	if (gp_cfi_find(module->unwind, pc - 1, row))
		return true;
	if (!gp_cfi_find(module->unwind, pc, row) || row->code_start != pc)
		return false;
	row->columns[GP_REGISTER_RA].how = GP_CFI_UNDEFINED;
	return true;
}

/* ---- the table ---- */

static void keep(uint64_t pc, uint64_t rule)
{
	for (uint32_t at = gp_rule_table_slot(pc);; at = (at + 1) & (GP_RULE_TABLE_LIMIT - 1)) {
		struct gp_rule_entry *entry = &gp_rule_table_entries[at];

		if (entry->pc != 0 && entry->pc != pc)
			continue;
		if (entry->pc == 0 && entry_count == MOST_ENTRIES) {
			gp_count(GP_COUNTER_STACK_RULES_FULL, 1);
			return;
		}
		gp_store64(&entry->rule, rule);
		if (entry->pc == 0) {
			gp_store64_release(&entry->pc, pc);
			entry_count++;
		}
		return;
	}
}

bool gp_rule_table_module(uint64_t pc, struct gp_module *module)
{
	bool is_first;

	if (!gp_modules_find(pc - 1, module, &is_first)) {
		struct gp_module interpreter;

		while (gp_modules_find_interpreter(&interpreter))
			notice_module(&interpreter);
		return false;
	}
	/* another thread, to which it was new, may not have come to the interpreter in it yet */
	if (is_first || module->may_be_interpreter)
		notice_module(module);
	return true;
}

uint64_t gp_rule_table_learn(uint64_t pc)
{
	int saved = errno;
	struct gp_module module;
	struct gp_cfi_row row;
	uint64_t rule = gp_rule_pack(is_signal_return(pc) ? GP_RULE_SIGNAL : GP_RULE_STUCK, 0, 0);

	if (gp_rule_table_module(pc, &module)) {
		if (gp_rule_table_row(&module, pc, &row))
			rule = rule_of(&row);
		rule = gp_rule_with_module(rule, module.id);
	}
	gp_lock(&lock);
	keep(pc, rule);
	gp_unlock(&lock);
	errno = saved;
	return rule;
}

void gp_rule_table_follow_epoch(uint32_t epoch)
{
	gp_lock(&lock);
	if (learned_epoch != epoch) {
		for (uint32_t i = 0; i < GP_RULE_TABLE_LIMIT; i++)
			if (gp_rule_table_entries[i].rule != GP_RULE_UNKNOWN)
				gp_store64(&gp_rule_table_entries[i].rule, GP_RULE_UNKNOWN);
		learned_epoch = epoch;
	}
	gp_unlock(&lock);
}
