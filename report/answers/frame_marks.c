#include "report/answers/frame_marks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/code_rank.h"
#include "report/symbols.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Patterns, the path's as gp_code_matches() has them; of a table the first row that fits counts. */
struct row {
	const char *path, *function;
	struct gp_frame_mark mark;
};

/* By the path of the source. */
static const struct row python_rows[] = {
	{"*/torch/_inductor/runtime/benchmarking.py", "*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/runtime/triton_heuristics.py", "*bench*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/autotune_process.py", "*benchmark*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/select_algorithm.py", "*benchmark*", {.tuner = GP_TUNER_INDUCTOR}},
	{"*/torch/_inductor/runtime/triton_heuristics.py",
	 "*precompile*",
	 {.compiler = GP_COMPILER_TORCH}},
	{"*/torch/_dynamo/convert_frame.py", "*", {.compiler = GP_COMPILER_TORCH}},
	{"*/torch/_inductor/compile_fx.py", "*compile_fx*", {.compiler = GP_COMPILER_TORCH}},
	{"*/triton/testing.py", "do_bench*", {.tuner = GP_TUNER_TRITON}},
	{"*/triton/runtime/autotuner.py", "*bench*", {.tuner = GP_TUNER_TRITON}},
	{"*/triton/compiler/compiler.py", "compile", {.compiler = GP_COMPILER_TRITON}},
	{"*/jax/_src/compiler.py", "*", {.compiler = GP_COMPILER_JAX}},
	{"*/cupy/cuda/compiler.py", "*", {.compiler = GP_COMPILER_CUPY}},
	{"*/numba/cuda/compiler.py", "*", {.compiler = GP_COMPILER_NUMBA}},
	{"*/numba/core/compiler*.py", "*", {.compiler = GP_COMPILER_NUMBA}},
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

static struct gp_frame_mark mark_of_place(const struct gp_place *place)
{
	if (place->kind == GP_FRAME_PYTHON)
		return find_mark(python_rows, COUNT(python_rows), place->file, place->function);
	return find_mark(native_rows, COUNT(native_rows), place->module, place->function);
}

static void add_mark(struct gp_frame_mark *mark, struct gp_frame_mark inner)
{
	if (mark->tuner == GP_TUNER_NONE)
		mark->tuner = inner.tuner;
	if (mark->compiler == GP_COMPILER_NONE ||
	    (mark->compiler == GP_COMPILER_IMPORT && inner.compiler != GP_COMPILER_NONE))
		mark->compiler = inner.compiler;
}

/* By module: whether a row is about it. */
static bool *choose_modules(const struct gp_model *model)
{
	bool *chosen = calloc((size_t)model->module_count + 1, sizeof(*chosen));

	for (uint32_t i = 0; chosen && i < model->module_count; i++) {
		const char *path = gp_model_module_path(model, &model->modules[i]);

		for (size_t r = 0; r < COUNT(native_rows); r++)
			chosen[i] |= gp_code_matches(native_rows[r].path, path);
	}
	return chosen;
}

static bool may_have_mark(const struct gp_frame *frame, const bool *modules)
{
	return frame->kind == GP_FRAME_PYTHON ||
	       (frame->kind == GP_FRAME_NATIVE && frame->origin != GP_NONE &&
		modules[frame->origin]);
}

static void mark_frames(const struct gp_model *model, struct gp_symbols *symbols,
			const bool *modules, struct gp_frame_mark *marks)
{
	for (uint32_t i = 0; i < model->frame_count; i++) {
		const struct gp_frame *frame = &model->frames[i];
		const struct gp_place *places = NULL;
		size_t count = 0;

		marks[i] =
			frame->parent == GP_NONE ? (struct gp_frame_mark){0} : marks[frame->parent];
		if (may_have_mark(frame, modules))
			places = gp_symbols_find(symbols, model, i, &count);
		while (count-- > 0)
			add_mark(&marks[i], mark_of_place(&places[count]));
	}
}

int gp_frame_marks_of(const struct gp_model *model, struct gp_frame_mark **marks)
{
	struct gp_symbols *symbols = gp_symbols_new();
	bool *modules = choose_modules(model);

	*marks = calloc((size_t)model->frame_count + 1, sizeof(**marks));
	if (symbols && modules && *marks)
		mark_frames(model, symbols, modules, *marks);
	gp_symbols_free(symbols);
	free(modules);
	if (symbols && modules && *marks)
		return 0;
	free(*marks);
	*marks = NULL;
	return -ENOMEM;
}
