/* make_way: out of the way of a tool that would end the program for us. */
#ifndef INJECT_MAKE_WAY_H
#define INJECT_MAKE_WAY_H

#include <stdbool.h>

/* Whether Nsight Compute has started this process: then no variable of its environment names the library any more. */
bool gp_ncu_yield(const char *library);

#endif
