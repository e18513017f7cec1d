/* ncu: yields to Nsight Compute, which would end the program because of us. */
#ifndef INJECT_NCU_H
#define INJECT_NCU_H

#include <stdbool.h>

/*
 * Whether Nsight Compute has started this process; if so, removes the variables that name the
 * library from the environment.
 */
bool gp_ncu_yield(const char *library);

#endif
