/* cupti_error: why CUPTI does not work here and what to do, by its error code.  Pure. */
#ifndef INJECT_CUPTI_ERROR_H
#define INJECT_CUPTI_ERROR_H

#include <cupti.h>

/*
 * The rest of a line that begins with GP_NO_ACTIVITY; NULL = CUPTI's own name of the error says
 * more.
 */
const char *gp_cupti_error_reason(CUptiResult result);

#endif
