/*
 * frame_marks: what functions of known libraries do that are on a stack: try kernels out, to find
 * the fastest (tuning), or compile or load what they have compiled.
 *
 * The rows in frame_marks.c say which functions these are.  A frame has the mark of its callers,
 * the outermost first: what a tuner calls is tuning, whatever it calls.  Functions of native code
 * are looked up only in modules that have a row.
 */
#ifndef REPORT_ANALYSIS_LOOP_FRAME_MARKS_H
#define REPORT_ANALYSIS_LOOP_FRAME_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

enum gp_tuner {
	GP_TUNER_NONE,
	GP_TUNER_INDUCTOR,
	GP_TUNER_TRITON,
	GP_TUNER_XLA,
	GP_TUNER_CUDNN,
	GP_TUNER_TUNABLE,
	GP_TUNERS
};

enum gp_compiler {
	GP_COMPILER_NONE,
	GP_COMPILER_TORCH, /* torch.compile: Dynamo and Inductor */
	GP_COMPILER_TRITON,
	GP_COMPILER_JAX,
	GP_COMPILER_CUPY,
	GP_COMPILER_NUMBA,
	GP_COMPILER_EXTENSION, /* torch.utils.cpp_extension */
	GP_COMPILER_IMPORT,    /* none: Python imports a module; only where none of the others is */
	GP_COMPILERS
};

/* Whom a frame was called by, itself included. */
struct gp_frame_mark {
	uint8_t tuner;    /* enum gp_tuner */
	uint8_t compiler; /* enum gp_compiler */
	bool is_inductor; /* something of Inductor's is among them, but for its benchmarker */
	bool if_inductor; /* of a row: it tells of a tuner only then, for programs call it, too */
};

/* By index in the model's frames; free it in either case.  Returns 0 or -ENOMEM. */
int gp_frame_marks_of(const struct gp_model *model, struct gp_frame_mark **marks);

/* "PyTorch Inductor's benchmarks", ...; what compiles or imports: "torch.compile", "Python", ... */
const char *gp_tuner_name(enum gp_tuner tuner);
const char *gp_compiler_name(enum gp_compiler compiler);

#endif
