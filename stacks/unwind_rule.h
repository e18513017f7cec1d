/*
 * unwind_rule: how to get from one frame to its caller's, in eight bytes.
 *
 * The caller's frame begins at `cfa`; its return address is at cfa - 8, on aarch64 anywhere.  All
 * offsets are in words of eight bytes.  On aarch64, rbp stands for x29.
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

/* The limits of an offset, in words. */
#if defined(__aarch64__)
#define GP_RULE_MOST_OFFSET (1 << 19)
#else
#define GP_RULE_MOST_OFFSET (1 << 24)
#endif

/*
 * Bits: kind 4, word of the saved rbp 12 (from cfa; 0 = rbp still holds the caller's), module 16,
 * offset 32; on aarch64 word of the return address 12, offset 20.
 */
static inline uint64_t gp_rule_pack(enum gp_rule_kind kind, int32_t offset, int32_t saved)
{
#if defined(__aarch64__)
	offset = (int32_t)((uint32_t)offset << 12);
#endif
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

#if defined(__aarch64__)
static inline int64_t gp_rule_offset(uint64_t rule)
{
	return (int64_t)rule >> 44;
}

static inline uint64_t gp_rule_with_return(uint64_t rule, int32_t word)
{
	return rule | ((uint64_t)word & 0xfff) << 32;
}

/* Location of the return address, in words from cfa. */
static inline int64_t gp_rule_return(uint64_t rule)
{
	return (int64_t)(rule << 20) >> 52;
}
#else
static inline int64_t gp_rule_offset(uint64_t rule)
{
	return (int32_t)(rule >> 32);
}

static inline uint64_t gp_rule_with_return(uint64_t rule, int32_t word)
{
	(void)word;
	return rule;
}

static inline int64_t gp_rule_return(uint64_t rule)
{
	(void)rule;
	return -1;
}
#endif

static inline uint32_t gp_rule_module(uint64_t rule)
{
	return (uint32_t)(rule >> 16) & 0xffff;
}

#endif
