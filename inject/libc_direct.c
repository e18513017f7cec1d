/*
 * libc_direct: calls C library functions directly, past a thread sanitizer's interposers.
 *
 * A thread sanitizer in the program defines memcpy() and similar functions to observe memory
 * accesses.  It would see our accesses but not the atomic operations that order them, and report
 * false races.  So the library defines these functions for itself, which jump to the C library: the
 * sanitizer does not observe them, and the program's own calls are unchanged.  The cost is one
 * jump, as for any dynamically bound call.
 *
 * Not in our own sanitizer builds, which observe everything.
 */
#if defined(GP_LIBC_FIRST) /* collector/libc_versions.h */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inject/dlsym.h"

/* Initially the function that the loader binds the name to; later a jump to the C library's own. */
#define DIRECT(result, name, parameters, arguments)                                                \
	extern __typeof__(name) bound_##name;                                                      \
	__asm__(".symver bound_" #name ", " #name "@" GP_LIBC_FIRST);                              \
	static __typeof__(name) *direct_##name = bound_##name;                                     \
	result name parameters                                                                     \
	{                                                                                          \
		return direct_##name arguments;                                                    \
	}

DIRECT(void *, memcpy, (void *restrict to, const void *restrict from, size_t bytes),
       (to, from, bytes))
DIRECT(void *, memmove, (void *to, const void *from, size_t bytes), (to, from, bytes))
DIRECT(void *, memset, (void *to, int byte, size_t bytes), (to, byte, bytes))
DIRECT(int, memcmp, (const void *one, const void *other, size_t bytes), (one, other, bytes))
DIRECT(void *, memchr, (const void *in, int byte, size_t bytes), (in, byte, bytes))
DIRECT(size_t, strlen, (const char *text), (text))
DIRECT(size_t, strnlen, (const char *text, size_t bytes), (text, bytes))
DIRECT(int, strcmp, (const char *one, const char *other), (one, other))
DIRECT(int, strncmp, (const char *one, const char *other, size_t bytes), (one, other, bytes))
DIRECT(char *, strchr, (const char *text, int character), (text, character))
DIRECT(char *, strrchr, (const char *text, int character), (text, character))

#define FIND(name)                                                                                 \
	direct_##name = (__typeof__(name) *)gp_dlsym_in_libc(#name, (uintptr_t)direct_##name)

/* Before the program has threads. */
static __attribute__((constructor)) void find_all(void)
{
	FIND(memcpy);
	FIND(memmove);
	FIND(memset);
	FIND(memcmp);
	FIND(memchr);
	FIND(strlen);
	FIND(strnlen);
	FIND(strcmp);
	FIND(strncmp);
	FIND(strchr);
	FIND(strrchr);
}

#endif
