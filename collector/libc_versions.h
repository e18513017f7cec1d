/*
 * libc_versions: binds C library functions to symbol versions of glibc 2.17 or older.
 *
 * The loader ends a program whose C library lacks a symbol version that a preloaded library needs,
 * such as in a container older than the build machine.  Most of the newer versions change nothing:
 * 2.34 moved the functions of libdl and libpthread into libc.  The Makefile includes this header
 * before all else in the library's objects, and links the library against those two, where an older
 * C library has the functions.  tests/lint/exports.sh refuses newer versions.
 */
#ifndef COLLECTOR_LIBC_VERSIONS_H
#define COLLECTOR_LIBC_VERSIONS_H

#if defined(__x86_64__)
#define GP_LIBC_FIRST   "GLIBC_2.2.5"
#define GP_LIBC_DLADDR1 "GLIBC_2.3.3"
#define GP_LIBC_DLMOPEN "GLIBC_2.3.4"
#define GP_LIBC_SETNAME "GLIBC_2.12"
#elif defined(__aarch64__)
#define GP_LIBC_FIRST   "GLIBC_2.17"
#define GP_LIBC_DLADDR1 GP_LIBC_FIRST
#define GP_LIBC_DLMOPEN GP_LIBC_FIRST
#define GP_LIBC_SETNAME GP_LIBC_FIRST
#endif

#if defined(GP_LIBC_FIRST)
__asm__(".symver dladdr, dladdr@" GP_LIBC_FIRST "\n"
	".symver dladdr1, dladdr1@" GP_LIBC_DLADDR1 "\n"
	".symver dlclose, dlclose@" GP_LIBC_FIRST "\n"
	".symver dlerror, dlerror@" GP_LIBC_FIRST "\n"
	".symver dlmopen, dlmopen@" GP_LIBC_DLMOPEN "\n"
	".symver dlopen, dlopen@" GP_LIBC_FIRST "\n"
	".symver dlvsym, dlvsym@" GP_LIBC_FIRST "\n"
	".symver glob, glob@" GP_LIBC_FIRST "\n"
	".symver pthread_attr_setstacksize, pthread_attr_setstacksize@" GP_LIBC_FIRST "\n"
	".symver pthread_create, pthread_create@" GP_LIBC_FIRST "\n"
	".symver pthread_detach, pthread_detach@" GP_LIBC_FIRST "\n"
	".symver pthread_key_create, pthread_key_create@" GP_LIBC_FIRST "\n"
	".symver pthread_setname_np, pthread_setname_np@" GP_LIBC_SETNAME "\n"
	".symver pthread_setspecific, pthread_setspecific@" GP_LIBC_FIRST "\n"
	".symver pthread_sigmask, pthread_sigmask@" GP_LIBC_FIRST "\n"
	/* the names that headers of 2.38 use */
	".symver __isoc23_sscanf, sscanf@" GP_LIBC_FIRST "\n"
	".symver __isoc23_strtol, strtol@" GP_LIBC_FIRST "\n"
	".symver __isoc23_strtoll, strtoll@" GP_LIBC_FIRST "\n"
	".symver __isoc23_strtoul, strtoul@" GP_LIBC_FIRST "\n"
	".symver __isoc23_strtoull, strtoull@" GP_LIBC_FIRST "\n");
#endif

#endif
