/*
 * code_rank: whose code a function is.  The tables in code_rank.c say which files are which.
 */
#ifndef REPORT_SYMBOLS_CODE_OWNER_H
#define REPORT_SYMBOLS_CODE_OWNER_H

#include <stdbool.h>

#include "report/symbols/symbols.h"

enum gp_code_owner {
	GP_CODE_OWN,       /* the user's */
	GP_CODE_FRAMEWORK, /* of a library that works with CUDA for the user */
	GP_CODE_BENEATH,   /* CUDA's, the interpreter's, the C library's; or no function */
	GP_CODE_OWNERS
};

/* As far as it can be told without looking into the file; "" is of a file that is not known. */
enum gp_code_owner gp_code_owner_of_module(const char *path);
enum gp_code_owner gp_code_owner_of_place(const struct gp_place *place);

/*
 * The same of a frame in a picture of all of them: torch.profiler's operators are a framework's
 * there.  Where one place is to be named they stand for the user's code: its traces know no line of
 * that.
 */
enum gp_code_owner gp_code_owner_of_frame(const struct gp_place *place);

/*
 * Whether a function of PyTorch is an operator of a backward pass
 * ("torch::autograd::generated::MulBackward0::apply"), or what is done there between them: in a
 * thread of PyTorch's own, where nothing is the user's, it says more than what it calls.
 */
bool gp_code_is_backward(const char *function);

/* Whether a pattern with a / fits the path, or one without fits the file's name. */
bool gp_code_matches(const char *pattern, const char *path);

#endif
