/*
 * dlsym: the program's dlsym(), by which a client of CUPTI may find our functions in place of CUPTI's.
 *
 * It is a few instructions that ask gp_dlsym_choose() where to go, and jump there with the caller's stack, arguments and
 * return address.  For every name but CUPTI's that is the C library's dlsym(), which so sees its caller, as RTLD_NEXT and
 * RTLD_DEFAULT must.  It may be called at any time on any thread: before our constructor, in the start of an allocator or
 * a sanitizer, in a signal handler.  Nothing here takes a lock or memory that dlsym() would not take.
 *
 * There is one for x86-64 and one for aarch64.  Elsewhere none is defined, and what a program looks up is not seen.
 */
#ifndef INJECT_DLSYM_H
#define INJECT_DLSYM_H

#include <stdint.h>

typedef void *gp_dlsym_function(void *handle, const char *name);

/*
 * What the program is to get for a name that begins with "cupti" and that was found in a library it names by a handle.
 * found: what it would have got, never NULL.  caller: in whose code dlsym() was called.
 */
typedef void *gp_dlsym_answer(void *handle, const char *name, void *found, const void *caller);

/* By the constructor: from now on it is asked. */
void gp_dlsym_answer_with(gp_dlsym_answer *answer);

/* dlsym() for ourselves: nobody is asked.  RTLD_NEXT is what comes after this library. */
void *gp_dlsym(void *handle, const char *name);

/* The C library's own function of that name, past all that define it, too; `otherwise` where there is none. */
uintptr_t gp_dlsym_in_libc(const char *name, uintptr_t otherwise);

/* For dlsym() itself: the function that is to be called in its place. */
gp_dlsym_function *gp_dlsym_choose(void *handle, const char *name);

#endif
