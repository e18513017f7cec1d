#include "report/analysis/loop/frame_marks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
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

static struct gp_frame_mark mark_of_place(const struct gp_place *place)
{
	struct gp_frame_mark mark;

	if (place->kind == GP_FRAME_PYTHON && strcmp(place->function, MODULE) == 0)
		return (struct gp_frame_mark){0};
	if (place->kind == GP_FRAME_PYTHON) {
		mark = find_mark(python_rows, COUNT(python_rows), place->file, place->function);
		mark.is_inductor = !mark.if_inductor && gp_code_matches(INDUCTOR, place->file);
		return mark;
	}
	return find_mark(native_rows, COUNT(native_rows), place->module, place->function);
}

static void add_mark(struct gp_frame_mark *mark, struct gp_frame_mark inner)
{
	if (mark->tuner == GP_TUNER_NONE && (mark->is_inductor || !inner.if_inductor))
		mark->tuner = inner.tuner;
	mark->is_inductor |= inner.is_inductor;
	if (mark->compiler == GP_COMPILER_NONE ||
	    (mark->compiler == GP_COMPILER_IMPORT && inner.compiler != GP_COMPILER_NONE))
		mark->compiler = inner.compiler;
}

struct search {
	const struct gp_model *model;
	struct gp_symbols *symbols;
	bool *modules; /* whether a row is about it */
	/* by text: the mark of that Python code, which many frames share */
	struct gp_frame_mark *codes;
	bool *has_code;
};

static void choose_modules(struct search *search)
{
	const struct gp_model *model = search->model;

	for (uint32_t i = 0; i < model->module_count; i++) {
		const char *path = gp_model_module_path(model, &model->modules[i]);

		for (size_t r = 0; r < COUNT(native_rows); r++)
			search->modules[i] |= gp_code_matches(native_rows[r].path, path);
	}
}

static int open_search(struct search *search, const struct gp_model *model)
{
	*search = (struct search){
		.model = model,
		.symbols = gp_symbols_new(),
		.modules = calloc((size_t)model->module_count + 1, sizeof(*search->modules)),
		.codes = calloc((size_t)model->text_count + 1, sizeof(*search->codes)),
		.has_code = calloc((size_t)model->text_count + 1, sizeof(*search->has_code)),
	};
	if (!search->symbols || !search->modules || !search->codes || !search->has_code)
		return -ENOMEM;
	choose_modules(search);
	return 0;
}

static void close_search(struct search *search)
{
	gp_symbols_free(search->symbols);
	free(search->modules);
	free(search->codes);
	free(search->has_code);
}

/* Of the functions of a frame, the outermost of inlined ones first. */
static struct gp_frame_mark look_up(const struct search *search, uint32_t frame)
{
	struct gp_frame_mark mark = {0};
	size_t count;
	const struct gp_place *places =
		gp_symbols_find(search->symbols, search->model, frame, &count);

	if (count > 0)
		mark = mark_of_place(&places[--count]); /* of Python's frames, the only one */
	while (count-- > 0)
		add_mark(&mark, mark_of_place(&places[count]));
	return mark;
}

static struct gp_frame_mark own_mark(struct search *search, uint32_t index)
{
	const struct gp_frame *frame = &search->model->frames[index];

	if (frame->origin == GP_NONE)
		return (struct gp_frame_mark){0};
	if (frame->kind == GP_FRAME_NATIVE && search->modules[frame->origin])
		return look_up(search, index);
	if (frame->kind != GP_FRAME_PYTHON)
		return (struct gp_frame_mark){0};
	if (!search->has_code[frame->origin])
		search->codes[frame->origin] = look_up(search, index);
	search->has_code[frame->origin] = true;
	return search->codes[frame->origin];
}

int gp_frame_marks_of(const struct gp_model *model, struct gp_frame_mark **marks)
{
	struct search search;
	int result = open_search(&search, model);

	*marks = calloc((size_t)model->frame_count + 1, sizeof(**marks));
	if (!*marks)
		result = -ENOMEM;
	for (uint32_t i = 0; result == 0 && i < model->frame_count; i++) {
		if (model->frames[i].parent != GP_NONE)
			(*marks)[i] = (*marks)[model->frames[i].parent];
		add_mark(&(*marks)[i], own_mark(&search, i));
	}
	close_search(&search);
	return result;
}
