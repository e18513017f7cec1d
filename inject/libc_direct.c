/*
 * Functions of the C library, past whoever stands between it and the program.
 *
 * A thread sanitizer in the program defines memcpy() and the like, to see what is read and written.  It would see ours, but not the
 * atomic operations that order them, and end the program for races that are none.  So the library has functions of these names for
 * itself, which jump on into the C library: what nobody sees is not judged, and the program's own calls are as before.  It costs what a
 * call that the loader binds costs: one jump.
 *
 * Not in builds for sanitizers of our own, which are to see everything.
 */
#if defined(GP_LIBC_FIRST) /* collector/libc_versions.h */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inject/dlsym.h"

/* Until the C library's own is known, what the loader binds the name to; then a function of ours that jumps. */
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
