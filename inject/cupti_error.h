/*
 * refusal: why CUPTI does not work for us, and what to do, by the error that it gives.  Pure.
 */
#ifndef INJECT_REFUSAL_H
#define INJECT_REFUSAL_H

#include <cupti.h>

/* The rest of a line that begins "nothing of the GPU is recorded: "; NULL = CUPTI's own name of the error says more. */
const char *gp_cupti_error_reason(CUptiResult result);

#endif
