/*
 * share_names: a client of CUPTI inside the program that looks CUPTI's functions up by dlsym(), as Proton and JAX's
 * profiler do.
 *
 * It gets those of inject/cupti_client.c in place of CUPTI's, where the libcupti that it asks is the one that we use, or, before
 * we use one, may become it.  A client that comes with a copy of its own, no newer than ours, gets all functions of ours:
 * the copies do not know each other, and the driver serves one.  What is older serves no client that was made for newer
 * records: it gets what it has found, is refused by CUPTI, and one line says how to help it.
 *
 * There is room for one copy.  Where the program itself is bound to another, or functions of another were given before, a
 * client gets what it has found.
 */
#ifndef INJECT_SHARE_NAMES_H
#define INJECT_SHARE_NAMES_H

#include <stdbool.h>

#include "inject/cupti_library.h"

/* Once, by the constructor, if CUPTI is to be shared. */
void gp_client_symbols_init(void);

/* CUPTI's function in whose place ours was given; NULL: it was not. */
void *gp_client_symbols_given(const void *own);

/* Whether functions of another copy than this one were given: what was given of CUPTI's own knows nothing of this one. */
bool gp_client_symbols_are_of_another(const struct gp_cupti *cupti);

/* What a function of this name is in the loaded library of this path; NULL: not there. */
void *gp_client_symbols_look_up(const char *path, const char *name);

#endif
