#include "report/analysis/loop/frame_marks.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/loop/frame_marking.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/symbols.h"

/* Patterns, the path's as gp_code_matches() has them; of a table the first row that fits counts. */
struct row {
	const char *path, *function;
	struct gp_frame_mark mark;
};

#define INDUCTOR "*/torch/_inductor/*"
#define MODULE   "<module>" /* the code of a file while it is imported: its functions run later */

/* By the path of the source. */
static const struct row python_rows[] = {
	{"*/torch/_inductor/runtime/benchmarking.py",
	 "*",
	 {.tuner = GP_TUNER_INDUCTOR, .if_inductor = true}},
	{"*/torch/_inductor/runtime/triton_heuristics.py", "*bench*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/autotune_process.py", "*benchmark*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/select_algorithm.py", "*benchmark*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/runtime/triton_heuristics.py",
	 "*precompile*",
	 {.compiler = GP_COMPILER_TORCH}},
	{"*/torch/_dynamo/convert_frame.py", "*", {.compiler = GP_COMPILER_TORCH}},
	{"*/torch/_inductor/compile_fx.py", "*compile_fx*", {.compiler = GP_COMPILER_TORCH}},
	{"*/triton/runtime/autotuner.py", "*bench*", {.tuner = GP_TUNER_TRITON}},
	{"*/triton/compiler/compiler.py", "compile", {.compiler = GP_COMPILER_TRITON}},
	{"*/jax/_src/compiler.py", "*", {.compiler = GP_COMPILER_JAX}},
	{"*/cupy/cuda/compiler.py", "*", {.compiler = GP_COMPILER_CUPY}},
	{"*/numba/cuda/compiler.py", "*", {.compiler = GP_COMPILER_NUMBA}},
	{"*/numba/core/compiler.py", "*", {.compiler = GP_COMPILER_NUMBA}},
	{"*/numba/core/compiler_machinery.py", "*", {.compiler = GP_COMPILER_NUMBA}},
	{"*/torch/utils/cpp_extension.py", "*", {.compiler = GP_COMPILER_EXTENSION}},
	{"<frozen importlib._bootstrap>", "_find_and_load*", {.compiler = GP_COMPILER_IMPORT}},
};

/* By that of the module. */
static const struct row native_rows[] = {
	{"xla_*.so", "xla::ConfigRunner::*", {.tuner = GP_TUNER_XLA}},
	{"xla_*.so", "xla::Autotuner::*", {.tuner = GP_TUNER_XLA}},
	{"xla_*.so", "xla::gpu::GpuProfiler::*", {.tuner = GP_TUNER_XLA}},
	{"xla_*.so", "xla::gpu::*Autotuner*::*", {.tuner = GP_TUNER_XLA}},
	{"xla_*.so", "xla::gpu::GpuConvAlgorithmPicker::*", {.tuner = GP_TUNER_XLA}},
	{"xla_*.so", "xla::gpu::GemmAlgorithmPicker::*", {.tuner = GP_TUNER_XLA}},
	{"xla_*.so", "stream_executor::RedzoneAllocator::*", {.tuner = GP_TUNER_XLA}},
	{"libcudnn*.so*", "cudnnFind*", {.tuner = GP_TUNER_CUDNN}},
	{"libtorch_cuda*.so", "*time_sorted_plan*", {.tuner = GP_TUNER_CUDNN}},
	{"libtorch_cuda*.so", "*get_plans_from_find*", {.tuner = GP_TUNER_CUDNN}},
	{"libtorch_cuda*.so", "at::cuda::tunable::*::FindFastest*", {.tuner = GP_TUNER_TUNABLE}},
};

static const char *const tuners[GP_TUNERS] = {
	[GP_TUNER_NONE] = "none",
	[GP_TUNER_INDUCTOR] = "PyTorch Inductor's benchmarks",
	[GP_TUNER_TRITON] = "Triton's benchmarks",
	[GP_TUNER_XLA] = "XLA's autotuner",
	[GP_TUNER_CUDNN] = "cuDNN's benchmark mode",
	[GP_TUNER_TUNABLE] = "PyTorch's TunableOp",
};

static const char *const compilers[GP_COMPILERS] = {
	[GP_COMPILER_NONE] = "none",
	[GP_COMPILER_TORCH] = "torch.compile",
	[GP_COMPILER_TRITON] = "Triton",
	[GP_COMPILER_JAX] = "JAX",
	[GP_COMPILER_CUPY] = "CuPy",
	[GP_COMPILER_NUMBA] = "Numba",
	[GP_COMPILER_EXTENSION] = "torch.utils.cpp_extension",
	[GP_COMPILER_IMPORT] = "Python",
};

const char *gp_tuner_name(enum gp_tuner tuner)
{
	return tuners[tuner];
}

const char *gp_compiler_name(enum gp_compiler compiler)
{
	return compilers[compiler];
}

static struct gp_frame_mark find_mark(const struct row *rows, size_t count, const char *path,
				      const char *function)
{
	for (size_t i = 0; i < count; i++)
		if (gp_code_matches(rows[i].path, path) &&
		    fnmatch(rows[i].function, function, 0) == 0)
			return rows[i].mark;
	return (struct gp_frame_mark){0};
}

static void mark_place(const void *context, const struct gp_place *place, void *of)
{
	struct gp_frame_mark *mark = of;

	(void)context;
	if (place->kind != GP_FRAME_PYTHON) {
		*mark = find_mark(native_rows, COUNT(native_rows), place->module, place->function);
	} else if (strcmp(place->function, MODULE) != 0) {
		*mark = find_mark(python_rows, COUNT(python_rows), place->file, place->function);
		mark->is_inductor = !mark->if_inductor && gp_code_matches(INDUCTOR, place->file);
	}
}

static void add_mark(void *of, const void *called)
{
	struct gp_frame_mark *mark = of;
	const struct gp_frame_mark *inner = called;

	if (mark->tuner == GP_TUNER_NONE && (mark->is_inductor || !inner->if_inductor))
		mark->tuner = inner->tuner;
	mark->is_inductor |= inner->is_inductor;
	if (mark->compiler == GP_COMPILER_NONE ||
	    (mark->compiler == GP_COMPILER_IMPORT && inner->compiler != GP_COMPILER_NONE))
		mark->compiler = inner->compiler;
}

static bool wants_module(const char *path)
{
	for (size_t i = 0; i < COUNT(native_rows); i++)
		if (gp_code_matches(native_rows[i].path, path))
			return true;
	return false;
}

void gp_frame_marks_of(const struct gp_model *model, struct gp_frame_mark **marks)
{
	static const struct gp_frame_marking marking = {.mark_bytes = sizeof(**marks),
							.wants_module = wants_module,
							.of_place = mark_place,
							.add = add_mark};

	*marks = calloc((size_t)model->frame_count + 1, sizeof(**marks));
	gp_frames_mark(model, &marking, *marks);
}
