/*
 * atomic: loads and stores with a memory order, by name.  The only file that names memory orders.
 *
 * Plain integers instead of _Atomic, because programs without these threads also read the ring
 * header (gpuprof/ring_file.h).  Every access to a word that two threads share uses these
 * functions.
 */
#ifndef COLLECTOR_ATOMIC_H
#define COLLECTOR_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t gp_load32(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* All actions of the storing thread before its gp_store32_release() are visible after this. */
static inline uint32_t gp_load32_acquire(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void gp_store32(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline void gp_store32_release(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint16_t gp_load16_acquire(const uint16_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void gp_store16_release(uint16_t *word, uint16_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Sequentially consistent: for flags that two threads raise and then check in each other. */
static inline uint32_t gp_swap32(uint32_t *word, uint32_t value)
{
	return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

static inline bool gp_replace32(uint32_t *word, uint32_t expected, uint32_t value)
{
	return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Both sequentially consistent; they return the previous value. */
static inline uint32_t gp_or32(uint32_t *word, uint32_t bits)
{
	return __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST);
}

static inline uint32_t gp_clear32(uint32_t *word, uint32_t bits)
{
	return __atomic_fetch_and(word, ~bits, __ATOMIC_SEQ_CST);
}

/* Returns the previous value. */
static inline uint32_t gp_add32(uint32_t *word, uint32_t amount)
{
	return __atomic_fetch_add(word, amount, __ATOMIC_RELAXED);
}

/* Sequentially consistent; returns the previous value. */
static inline uint32_t gp_add32_ordered(uint32_t *word, uint32_t amount)
{
	return __atomic_fetch_add(word, amount, __ATOMIC_SEQ_CST);
}

static inline uint64_t gp_load64(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t gp_load64_acquire(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void gp_store64(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline void gp_store64_release(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Returns the previous value. */
static inline uint64_t gp_take64(uint64_t *word, uint64_t amount)
{
	return __atomic_fetch_add(word, amount, __ATOMIC_RELAXED);
}

static inline void gp_add64(uint64_t *word, uint64_t amount)
{
	__atomic_fetch_add(word, amount, __ATOMIC_RELAXED);
}

/* Sequentially consistent. */
static inline void gp_add64_ordered(uint64_t *word, uint64_t amount)
{
	__atomic_fetch_add(word, amount, __ATOMIC_SEQ_CST);
}

static inline void gp_or64(uint64_t *word, uint64_t bits)
{
	__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

static inline bool gp_replace64(uint64_t *word, uint64_t expected, uint64_t value)
{
	return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Sequentially consistent, like gp_swap32(). */
static inline uint64_t gp_swap64(uint64_t *word, uint64_t value)
{
	return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t gp_load64_ordered(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline uint32_t gp_load32_ordered(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* For a word that only this thread writes: no locked instruction. */
static inline void gp_add64_own(uint64_t *word, uint64_t amount)
{
	gp_store64(word, gp_load64(word) + amount);
}

/* Order this thread's accesses against its own signal handlers; costs no instruction. */
static inline void gp_signal_fence(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Yield to the other hardware thread of this core while spinning. */
static inline void gp_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb"); /* yield takes no time on most cores */
#endif
}

#endif
