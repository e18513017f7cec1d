#include "report/symbols/code_owner.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/hash_map.h"

/* Of a longer path the end counts. */
#define PATH_BYTES 512u
#define REMEMBERED 64u

/*
 * A pattern with a slash is matched against the whole path, others against the file name. The first
 * matching row counts.
 */
struct row {
	const char *pattern;
	enum gp_code_owner rank;
};

static const struct row modules[] = {
	{"libcuda.so*", GP_CODE_BENEATH},
	{"libcudart*.so*", GP_CODE_BENEATH},
	{"libcupti.so*", GP_CODE_BENEATH},
	{"libgpusim.so*", GP_CODE_BENEATH},
	{"libgpuprof.so*", GP_CODE_BENEATH},
	{"libnvToolsExt*", GP_CODE_BENEATH},
	{"libnvrtc*", GP_CODE_BENEATH},
	{"libc.so*", GP_CODE_BENEATH},
	{"libc-2*.so", GP_CODE_BENEATH},
	{"libstdc++.so*", GP_CODE_BENEATH},
	{"libpthread*", GP_CODE_BENEATH},
	{"libgcc_s.so*", GP_CODE_BENEATH},
	{"ld-linux*", GP_CODE_BENEATH},
	{"libffi*", GP_CODE_BENEATH},
	{"_ctypes*", GP_CODE_BENEATH},
	{"_cffi_backend*", GP_CODE_BENEATH},
	{"libpython*", GP_CODE_BENEATH},
	{"python", GP_CODE_BENEATH},
	{"python[23]*", GP_CODE_BENEATH},
	{"libgomp*", GP_CODE_BENEATH},
	{"libuc[mpst]*", GP_CODE_BENEATH}, /* UCX: it intercepts CUDA functions */
	{"libc10*", GP_CODE_BENEATH},      /* PyTorch's allocators: their callers matter */
	{"libtorch*", GP_CODE_FRAMEWORK},
	{"*/torch/lib/*", GP_CODE_FRAMEWORK},
	{"*/torch/_C*", GP_CODE_FRAMEWORK},
	{"libcublas*", GP_CODE_FRAMEWORK},
	{"libcudnn*", GP_CODE_FRAMEWORK},
	{"libcufft*", GP_CODE_FRAMEWORK},
	{"libcurand*", GP_CODE_FRAMEWORK},
	{"libcusolver*", GP_CODE_FRAMEWORK},
	{"libcusparse*", GP_CODE_FRAMEWORK},
	{"libnccl*", GP_CODE_FRAMEWORK},
	{"libnv*", GP_CODE_FRAMEWORK},
	{"librmm.so*", GP_CODE_FRAMEWORK},
	{"libtensorflow*", GP_CODE_FRAMEWORK},
	{"_pywrap_tensorflow*", GP_CODE_FRAMEWORK},
	{"libonnxruntime*", GP_CODE_FRAMEWORK},
	{"libpaddle*", GP_CODE_FRAMEWORK},
	{"__triton_launcher*", GP_CODE_FRAMEWORK},
	{"xla_*.so", GP_CODE_FRAMEWORK},
	{"libjax*", GP_CODE_FRAMEWORK},
	{"*/cupy/*", GP_CODE_FRAMEWORK},
	{"*/cupy_backends/*", GP_CODE_FRAMEWORK},
	{"*/numba/*", GP_CODE_FRAMEWORK},
	{"*/cuda/bindings/*", GP_CODE_FRAMEWORK},
	{"*/pycuda/*", GP_CODE_FRAMEWORK},
	{"*/site-packages/*", GP_CODE_FRAMEWORK},
	{"*/dist-packages/*", GP_CODE_FRAMEWORK},
};

static const struct row python_files[] = {
	{"<frozen*", GP_CODE_BENEATH},
	/* the models of libraries: their lines tell more than the one that starts a training */
	{"*/transformers/models/*", GP_CODE_OWN},
	{"*/diffusers/models/*", GP_CODE_OWN},
	{"*/torchvision/models/*", GP_CODE_OWN},
	{"*/timm/models/*", GP_CODE_OWN},
	{"*/site-packages/*", GP_CODE_FRAMEWORK},
	{"*/dist-packages/*", GP_CODE_FRAMEWORK},
	{"*/lib/python[23]*/*", GP_CODE_FRAMEWORK},
	/* paths of torch.profiler begin below the folder of packages */
	{"torch/*", GP_CODE_FRAMEWORK},
	{"torchvision/*", GP_CODE_FRAMEWORK},
	{"transformers/*", GP_CODE_FRAMEWORK},
	{"accelerate/*", GP_CODE_FRAMEWORK},
	{"lightning/*", GP_CODE_FRAMEWORK},
	{"pytorch_lightning/*", GP_CODE_FRAMEWORK},
	{"diffusers/*", GP_CODE_FRAMEWORK},
	{"numpy/*", GP_CODE_FRAMEWORK},
	{"scipy/*", GP_CODE_FRAMEWORK},
	{"skimage/*", GP_CODE_FRAMEWORK},
	{"cv2/*", GP_CODE_FRAMEWORK},
	{"pandas/*", GP_CODE_FRAMEWORK},
	{"PIL/*", GP_CODE_FRAMEWORK},
	{"tqdm/*", GP_CODE_FRAMEWORK},
	{"asyncio/*", GP_CODE_FRAMEWORK},
	{"concurrent/futures/*", GP_CODE_FRAMEWORK},
	{"importlib/*", GP_CODE_FRAMEWORK},
	{"multiprocessing/*", GP_CODE_FRAMEWORK},
	{"threading.py", GP_CODE_BENEATH},
	{"contextlib.py", GP_CODE_BENEATH},
	{"runpy.py", GP_CODE_BENEATH},
};

/* Entries of torch.profiler that are no Python functions and have no file. */
static const struct row torch_operators[] = {
	{"aten::*", GP_CODE_FRAMEWORK},         {"autograd::*", GP_CODE_FRAMEWORK},
	{"*Backward[0-9]", GP_CODE_FRAMEWORK},  {"torch::*", GP_CODE_FRAMEWORK},
	{"nn.Module: *", GP_CODE_FRAMEWORK},    {"Optimizer.*#*", GP_CODE_FRAMEWORK},
	{"Torch-Compiled*", GP_CODE_FRAMEWORK}, {"<built-in *", GP_CODE_BENEATH},
	{"c10d::*", GP_CODE_FRAMEWORK},         {"## Call *", GP_CODE_FRAMEWORK},
	{"triton_*", GP_CODE_FRAMEWORK},        {"Compiled*", GP_CODE_FRAMEWORK},
};

/*
 * Code of CUDA and of the compiler's libraries in the user's own module: linked statically, or
 * inlined.
 */
static const struct row source_files[] = {
	{"cuda_runtime*.h", GP_CODE_BENEATH}, {"cudart_*", GP_CODE_BENEATH},
	{"*/include/c++/*", GP_CODE_BENEATH}, {"*/thrust/*", GP_CODE_FRAMEWORK},
	{"*/cub/*", GP_CODE_FRAMEWORK},       {"*/rmm/*", GP_CODE_FRAMEWORK},
};

static const struct row functions[] = {
	{"__libc_start_*", GP_CODE_BENEATH},
	{"cudaLaunch*", GP_CODE_BENEATH},
	{"cudaMemcpy*", GP_CODE_BENEATH},
	{"cudaMemset*", GP_CODE_BENEATH},
	{"_start", GP_CODE_BENEATH},
	{"__cuda*", GP_CODE_BENEATH},
	{"libcudart_static_*", GP_CODE_BENEATH},
	{"cudart::*", GP_CODE_BENEATH},
	{"cudaMalloc*", GP_CODE_BENEATH},
	{"cudaFree*", GP_CODE_BENEATH},
	{"cudaHost*", GP_CODE_BENEATH},
	{"cuMem*", GP_CODE_BENEATH},
};

/* For code without debug information, and so without files: mangled names of namespaces. */
static const struct row namespaces[] = {
	{"6thrust*", GP_CODE_FRAMEWORK},    {"3cub*", GP_CODE_FRAMEWORK},
	{"4cuda3std*", GP_CODE_FRAMEWORK},  {"4cuda3__*", GP_CODE_FRAMEWORK},
	{"3rmm*", GP_CODE_FRAMEWORK},       {"St*", GP_CODE_FRAMEWORK},
	{"9__gnu_cxx*", GP_CODE_FRAMEWORK},
};

/* Compares the first letters first: every frame is compared with every row. */
static bool matches(const char *pattern, const char *text)
{
	return (*pattern == *text || strchr("*?[\\", *pattern)) && fnmatch(pattern, text, 0) == 0;
}

bool gp_code_matches(const char *pattern, const char *path)
{
	const char *slash = strchr(pattern, '/') ? NULL : strrchr(path, '/');

	return matches(pattern, slash ? slash + 1 : path) ||
	       (strncmp(pattern, "*/", 2) == 0 && matches(pattern + 2, path));
}

static enum gp_code_owner find_rank(const struct row *rows, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (gp_code_matches(rows[i].pattern, path))
			return rows[i].rank;
	return GP_CODE_OWN;
}

/*
 * Few paths are asked for, each for every frame, and a search takes microseconds; of a path that was
 * made for it, milliseconds.
 */
static enum gp_code_owner rank_by(const struct row *rows, size_t count, const char *path)
{
	static _Thread_local struct {
		const struct row *rows; /* NULL = free */
		enum gp_code_owner rank;
		char path[PATH_BYTES];
	} remembered[REMEMBERED], *at;
	size_t bytes = strlen(path) + 1;

	if (bytes > PATH_BYTES) {
		path += bytes - PATH_BYTES;
		bytes = PATH_BYTES;
	}
	at = &remembered[gp_hash_bytes(path, bytes) % REMEMBERED];
	if (at->rows != rows || strcmp(at->path, path) != 0) {
		at->rows = rows;
		at->rank = find_rank(rows, count, path);
		memcpy(at->path, path, bytes);
	}
	return at->rank;
}

enum gp_code_owner gp_code_owner_of_module(const char *path)
{
	return rank_by(modules, COUNT(modules), path);
}

bool gp_code_may_be_own(const struct gp_model *model, const struct gp_frame *frame)
{
	if (frame->origin == GP_NONE)
		return false;
	return frame->kind == GP_FRAME_PYTHON ||
	       (frame->kind == GP_FRAME_NATIVE &&
		gp_code_owner_of_module(gp_model_module_path(
			model, &model->modules[frame->origin])) == GP_CODE_OWN);
}

/*
 * The owner by namespace. In "_ZNK6thrust6vector..." the qualifiers of a member function follow
 * "N", then come the names from the outermost on.
 */
static enum gp_code_owner rank_of_symbol(const char *symbol)
{
	if (!symbol || strncmp(symbol, "_Z", 2) != 0)
		return GP_CODE_OWN;
	symbol += 2;
	if (*symbol == 'N')
		symbol += 1 + strspn(symbol + 1, "rVKRO");
	for (size_t i = 0; i < COUNT(namespaces); i++)
		if (matches(namespaces[i].pattern, symbol))
			return namespaces[i].rank;
	return GP_CODE_OWN;
}

enum gp_code_owner gp_code_owner_of_place(const struct gp_place *place)
{
	enum gp_code_owner rank;

	if (place->kind == GP_FRAME_PYTHON)
		return rank_by(python_files, COUNT(python_files), place->file);
	if (place->kind != GP_FRAME_NATIVE || place->is_stub)
		return GP_CODE_BENEATH;
	rank = gp_code_owner_of_module(place->module);
	if (rank != GP_CODE_OWN)
		return rank;
	for (size_t i = 0; i < COUNT(functions); i++)
		if (matches(functions[i].pattern, place->function))
			return functions[i].rank;
	rank = rank_of_symbol(place->symbol);
	if (rank != GP_CODE_OWN)
		return rank;
	return rank_by(source_files, COUNT(source_files), place->file);
}

enum gp_code_owner gp_code_owner_of_frame(const struct gp_place *place)
{
	if (place->kind != GP_FRAME_PYTHON || *place->file != '\0')
		return gp_code_owner_of_place(place);
	for (size_t i = 0; i < COUNT(torch_operators); i++)
		if (matches(torch_operators[i].pattern, place->function))
			return torch_operators[i].rank;
	return GP_CODE_OWN;
}

bool gp_code_is_backward(const char *function)
{
	static const char space[] = "torch::autograd::", method[] = "::apply";
	size_t length;

	if (strncmp(function, space, strlen(space)) != 0)
		return false;
	function += strlen(space);
	length = strlen(function);
	return strncmp(function, "validate_outputs", strlen("validate_outputs")) == 0 ||
	       strcmp(function, "Engine::evaluate_function") == 0 ||
	       (length > strlen(method) && strcmp(function + length - strlen(method), method) == 0);
}
