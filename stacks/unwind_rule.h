/*
 * unwind_rule: how to get from one frame to its caller's, in eight bytes.
 *
 * The caller's frame begins at `cfa`; its return address is at cfa - 8.  All offsets are in words
 * of eight bytes.
 */
#ifndef STACKS_UNWIND_RULE_H
#define STACKS_UNWIND_RULE_H

#include <stdint.h>

enum gp_rule_kind {
	GP_RULE_UNKNOWN = 0,
	GP_RULE_SP, /* cfa = sp + offset */
	GP_RULE_BP, /* cfa = rbp + offset */
	/* cfa = *(rbp + offset): the compiler aligned the stack; the caller's rbp is at rbp */
	GP_RULE_REALIGNED,
	GP_RULE_SIGNAL,    /* the registers are in the ucontext at sp */
	GP_RULE_END,       /* there is no caller */
	GP_RULE_IRREGULAR, /* there is unwind information, but no rule expresses it */
	GP_RULE_STUCK,     /* there is no unwind information */
};

/*
 * Bits: kind 4, word of the saved rbp 12 (from cfa; 0 = rbp still holds the caller's), module 16,
 * offset 32.
 */
static inline uint64_t gp_rule_pack(enum gp_rule_kind kind, int32_t offset, int32_t saved)
{
	return (uint64_t)kind | ((uint64_t)saved & 0xfff) << 4 | (uint64_t)(uint32_t)offset << 32;
}

static inline uint64_t gp_rule_with_module(uint64_t rule, uint32_t module)
{
	return rule | (uint64_t)(module & 0xffff) << 16;
}

static inline enum gp_rule_kind gp_rule_kind(uint64_t rule)
{
	return (enum gp_rule_kind)(rule & 0xf);
}

/* Location of the saved rbp, in words from cfa; 0 = rbp still holds the caller's. */
static inline int64_t gp_rule_saved(uint64_t rule)
{
	return (int64_t)(rule << 48) >> 52;
}

static inline int64_t gp_rule_offset(uint64_t rule)
{
	return (int32_t)(rule >> 32);
}

static inline uint32_t gp_rule_module(uint64_t rule)
{
	return (uint32_t)(rule >> 16) & 0xffff;
}

#endif
