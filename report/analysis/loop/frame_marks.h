/*
 * frame_marks: the purpose of functions of known libraries on a stack: to try kernels out for the
 * fastest one (tuning), or to compile or load compiled code. The rows in frame_marks.c name these
 * functions.
 *
 * A frame has the mark of its callers, the outermost first: all that a tuner calls is tuning.
 * Functions of native code are looked up only in modules that have a row.
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

/* The marked function that called a frame, itself included. */
struct gp_frame_mark {
	uint8_t tuner;    /* enum gp_tuner */
	uint8_t compiler; /* enum gp_compiler */
	bool is_inductor; /* something of Inductor's is among them, but for its benchmarker */
	bool if_inductor; /* of a row: a sign of a tuner only then, as programs call it, too */
};

/* By index in the model's frames; free it. */
void gp_frame_marks_of(const struct gp_model *model, struct gp_frame_mark **marks);

/* "PyTorch Inductor's benchmarks", ...; of compilers and imports: "torch.compile", "Python", ... */
const char *gp_tuner_name(enum gp_tuner tuner);
const char *gp_compiler_name(enum gp_compiler compiler);

#endif
