/*
 * client_symbols: serves CUPTI clients that find CUPTI's functions by dlsym(), such as Proton and
 * JAX's profiler.
 *
 * Such a client gets the functions of inject/cupti_client.c instead of CUPTI's if it asks the
 * libcupti that we use, or, before we use one, may use later.  A client with its own copy, no newer
 * than ours, gets all functions from ours: the copies do not know each other, and the driver serves
 * only one.  An older copy of ours cannot serve a client made for newer records: the client gets
 * the functions of its own copy, CUPTI refuses it, and a logged line says how to fix it.
 *
 * Only one copy is supported.  If the program itself is bound to another copy, or functions of
 * another copy were already replaced, a client gets the unmodified functions.
 */
#ifndef INJECT_CLIENT_SYMBOLS_H
#define INJECT_CLIENT_SYMBOLS_H

#include <stdbool.h>

#include "inject/cupti_library.h"

/* Once, by the constructor, if CUPTI is to be shared. */
void gp_client_symbols_init(void);

/* The CUPTI function that our function `own` replaced; NULL: none. */
void *gp_client_symbols_original(const void *own);

/*
 * Whether functions of another copy than this one were replaced: the functions in use then do not
 * share its state.
 */
bool gp_client_symbols_use_other_copy(const struct gp_cupti *cupti);

/* The address of a function in the loaded library of this path; NULL: not found. */
void *gp_client_symbols_look_up(const char *path, const char *name);

#endif
