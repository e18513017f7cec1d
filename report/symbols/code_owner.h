/*
 * code_owner: whose code a function is. The tables in code_owner.c classify files.
 */
#ifndef REPORT_SYMBOLS_CODE_OWNER_H
#define REPORT_SYMBOLS_CODE_OWNER_H

#include <stdbool.h>

#include "report/symbols/symbols.h"

enum gp_code_owner {
	GP_CODE_OWN,       /* the user's code */
	GP_CODE_FRAMEWORK, /* a library that uses CUDA for the user */
	GP_CODE_BENEATH,   /* CUDA, the interpreter, the C library; or not a function */
	GP_CODE_OWNERS
};

/* The owner as far as it is known without reading the file; "" = unknown file. */
enum gp_code_owner gp_code_owner_of_module(const char *path);

/* Whether the frame may be the user's code: native code of libraries need not be looked up. */
bool gp_code_may_be_own(const struct gp_model *model, const struct gp_frame *frame);

enum gp_code_owner gp_code_owner_of_place(const struct gp_place *place);

/*
 * The owner of a frame in a view of all frames: there, operators of torch.profiler belong to a
 * framework. Where a single place is named, they stand for the user's code, as traces of
 * torch.profiler have no lines of it.
 */
enum gp_code_owner gp_code_owner_of_frame(const struct gp_place *place);

/*
 * Whether a function of PyTorch is an operator of a backward pass
 * ("torch::autograd::generated::MulBackward0::apply"), or work between operators. In PyTorch's own
 * threads, which have no user code, it says more than its callees.
 */
bool gp_code_is_backward(const char *function);

/*
 * Whether a pattern with a slash matches the path, or one without matches the file name. In front of
 * a path, a star and a slash also match nothing: paths of torch.profiler begin below the folder of
 * packages.
 */
bool gp_code_matches(const char *pattern, const char *path);

#endif
