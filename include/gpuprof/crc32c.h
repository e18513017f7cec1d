/*
 * crc32c: the checksum of a trace chunk (Castagnoli polynomial, reflected, as in iSCSI and SSE4.2).
 */
#ifndef GPUPROF_CRC32C_H
#define GPUPROF_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static inline uint32_t gp_crc32c_software(uint32_t crc, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static inline uint32_t
gp_crc32c_sse42(uint32_t crc, const uint8_t *bytes, size_t length)
{
	uint64_t wide = crc;

	for (; length >= 8; bytes += 8, length -= 8) {
		uint64_t word;

		memcpy(&word, bytes, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; length > 0; bytes++, length--)
		crc = __builtin_ia32_crc32qi(crc, *bytes);
	return crc;
}

/*
 * Queries the CPU at the first use. __builtin_cpu_supports() would add a cpuid instruction at
 * program start, which costs 0.1 ms in a virtual machine.
 */
static inline bool gp_crc32c_has_sse42(void)
{
	enum { UNKNOWN, NO, YES };
	static _Atomic int answer;
	unsigned a, b, c = 0, d;
	int known = answer;

	if (known == UNKNOWN) {
		known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) != 0 ? YES : NO;
		answer = known;
	}
	return known == YES;
}
#elif defined(__aarch64__)
__attribute__((target("+crc"))) static inline uint32_t
gp_crc32c_armv8(uint32_t crc, const uint8_t *bytes, size_t length)
{
	for (; length >= 8; bytes += 8, length -= 8) {
		uint64_t word;

		memcpy(&word, bytes, 8);
		crc = __crc32cd(crc, word);
	}
	for (; length > 0; bytes++, length--)
		crc = __crc32cb(crc, *bytes);
	return crc;
}
#endif

/* CRC-32C of length bytes; any alignment. */
static inline uint32_t gp_crc32c(const void *data, size_t length)
{
	const uint8_t *bytes = data;

#if defined(__x86_64__)
	if (gp_crc32c_has_sse42())
		return ~gp_crc32c_sse42(~0u, bytes, length);
#elif defined(__aarch64__)
	if (getauxval(AT_HWCAP) & HWCAP_CRC32)
		return ~gp_crc32c_armv8(~0u, bytes, length);
#endif
	return ~gp_crc32c_software(~0u, bytes, length);
}

#endif
