/*
 * dlsym: interposes the program's dlsym(), so that a CUPTI client may get our functions instead of
 * CUPTI's.
 *
 * A few instructions ask gp_dlsym_choose() for the target, and jump there with the caller's stack,
 * arguments and return address.  For every name that is not CUPTI's the target is the C library's
 * dlsym(), which so sees its real caller, as RTLD_NEXT and RTLD_DEFAULT require.  It may be called
 * at any time on any thread: before our constructor, during the start of an allocator or a
 * sanitizer, in a signal handler.  It takes no lock or memory that dlsym() itself would not take.
 *
 * Implemented for x86-64 and aarch64.  On other machines it is not defined, and lookups stay
 * unnoticed.
 */
#ifndef INJECT_DLSYM_H
#define INJECT_DLSYM_H

#include <stdint.h>

typedef void *gp_dlsym_function(void *handle, const char *name);

/*
 * The program's result for a name that begins with "cupti" and was found in a library given by a
 * handle.  found: the original result, never NULL.  caller: an address in the caller of dlsym().
 */
typedef void *gp_dlsym_answer(void *handle, const char *name, void *found, const void *caller);

/* By the constructor: install the answer function. */
void gp_dlsym_answer_with(gp_dlsym_answer *answer);

/*
 * dlsym() for ourselves, without the answer function.  RTLD_NEXT means the libraries after this
 * one.
 */
void *gp_dlsym(void *handle, const char *name);

/*
 * The C library's own function of that name, even if other libraries define it, too; `otherwise` if
 * there is none.
 */
uintptr_t gp_dlsym_in_libc(const char *name, uintptr_t otherwise);

/* For dlsym() itself: the function to jump to. */
gp_dlsym_function *gp_dlsym_choose(void *handle, const char *name);

#endif
