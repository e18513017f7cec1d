#include "report/call_site.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/array.h"
#include "report/groups.h"
#include "report/symbols.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define TEXT_BYTES   2048

/* Whose code a frame is, the user's first. */
enum rank { OWN, FRAMEWORK, BENEATH, RANKS };

/* A pattern with a / is one of the whole path, without one of the file's name; the first row that matches counts. */
struct row {
	const char *pattern;
	enum rank rank;
};

static const struct row modules[] = {
	{"libcuda.so*", BENEATH},
	{"libcudart*.so*", BENEATH},
	{"libcupti.so*", BENEATH},
	{"libgpusim.so*", BENEATH},
	{"libgpuprof.so*", BENEATH},
	{"libnvToolsExt*", BENEATH},
	{"libnvrtc*", BENEATH},
	{"libc.so*", BENEATH},
	{"libc-2*.so", BENEATH},
	{"libstdc++.so*", BENEATH},
	{"libpthread*", BENEATH},
	{"libgcc_s.so*", BENEATH},
	{"ld-linux*", BENEATH},
	{"libffi*", BENEATH},
	{"_ctypes*", BENEATH},
	{"_cffi_backend*", BENEATH},
	{"libpython*", BENEATH},
	{"python", BENEATH},
	{"python[23]*", BENEATH},
	{"libgomp*", BENEATH},
	{"libc10*", FRAMEWORK},
	{"libtorch*", FRAMEWORK},
	{"*/torch/*", FRAMEWORK},
	{"libcublas*", FRAMEWORK},
	{"libcudnn*", FRAMEWORK},
	{"libcufft*", FRAMEWORK},
	{"libcurand*", FRAMEWORK},
	{"libcusolver*", FRAMEWORK},
	{"libcusparse*", FRAMEWORK},
	{"libnccl*", FRAMEWORK},
	{"libnv*", FRAMEWORK},
	{"librmm.so*", FRAMEWORK},
	{"libtensorflow*", FRAMEWORK},
	{"xla_*.so", FRAMEWORK},
	{"libjax*", FRAMEWORK},
	{"*/cupy/*", FRAMEWORK},
	{"*/cupy_backends/*", FRAMEWORK},
	{"*/numba/*", FRAMEWORK},
	{"*/cuda/bindings/*", FRAMEWORK},
	{"*/pycuda/*", FRAMEWORK},
	{"*/site-packages/*", FRAMEWORK},
	{"*/dist-packages/*", FRAMEWORK},
};

static const struct row python_files[] = {
	{"<frozen*", BENEATH},
	{"*/site-packages/*", FRAMEWORK},
	{"*/dist-packages/*", FRAMEWORK},
	{"*/lib/python[23]*/*", FRAMEWORK},
};

/* What of CUDA and of the compiler's libraries lies in the user's own module: linked statically, or inlined. */
static const struct row source_files[] = {
	{"cuda_runtime*.h", BENEATH}, {"cudart_*", BENEATH},  {"*/include/c++/*", BENEATH},
	{"*/thrust/*", FRAMEWORK},    {"*/cub/*", FRAMEWORK}, {"*/rmm/*", FRAMEWORK},
};

static const struct row functions[] = {
	{"_start", BENEATH},    {"__cudart*", BENEATH},   {"libcudart_static_*", BENEATH},
	{"cudart::*", BENEATH}, {"cudaMalloc*", BENEATH}, {"cudaFree*", BENEATH},
	{"cudaHost*", BENEATH}, {"cuMem*", BENEATH},
};

/* Modules that allocate from CUDA to keep it: what they hold is their cache, not the user's blocks. */
static const struct {
	const char *pattern, *owner;
} owners[] = {
	{"libc10_cuda.so*", "PyTorch"},   {"libtorch_cuda.so*", "PyTorch"},
	{"*/cupy/cuda/memory.*", "CuPy"}, {"librmm.so*", "RMM"},
	{"libtensorflow*", "TensorFlow"}, {"xla_*.so", "XLA"},
};

struct known {
	const struct gp_model *model;
	uint32_t *numbers; /* by stack: of its site, or GP_NONE */
};

struct texts {
	char place[TEXT_BYTES], callers[TEXT_BYTES];
	const char *owner;
};

struct site {
	char *place, *callers;
	const char *owner;
};

struct gp_call_sites {
	struct gp_symbols *symbols;
	struct gp_groups keys; /* all texts of a site in one */
	struct site *sites;    /* parallel to the keys */
	uint32_t site_count, site_capacity;
	struct known *known;
	uint32_t known_count, known_capacity;
};

struct gp_call_sites *gp_call_sites_new(void)
{
	struct gp_call_sites *sites = calloc(1, sizeof(*sites));

	if (!sites)
		return NULL;
	sites->symbols = gp_symbols_new();
	if (sites->symbols)
		return sites;
	free(sites);
	return NULL;
}

void gp_call_sites_free(struct gp_call_sites *sites)
{
	if (!sites)
		return;
	for (uint32_t i = 0; i < sites->known_count; i++)
		free(sites->known[i].numbers);
	for (uint32_t i = 0; i < sites->site_count; i++) {
		free(sites->sites[i].place);
		free(sites->sites[i].callers);
	}
	free(sites->sites);
	free(sites->known);
	gp_groups_free(&sites->keys);
	gp_symbols_free(sites->symbols);
	free(sites);
}

/* ---- whose code it is ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool matches(const char *pattern, const char *path)
{
	return fnmatch(pattern, strchr(pattern, '/') ? path : last_part(path), 0) == 0;
}

static enum rank rank_by(const struct row *rows, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (matches(rows[i].pattern, path))
			return rows[i].rank;
	return OWN;
}

static const char *module_of(const struct gp_model *model, const struct gp_frame *frame)
{
	return frame->kind == GP_FRAME_NATIVE && frame->origin != GP_NONE
		       ? gp_model_module_path(model, &model->modules[frame->origin])
		       : "";
}

/* As far as it can be told without looking into files. */
static enum rank rank_frame(const struct gp_model *model, const struct gp_frame *frame)
{
	if (frame->kind == GP_FRAME_PYTHON)
		return OWN;
	if (frame->kind != GP_FRAME_NATIVE)
		return BENEATH;
	return rank_by(modules, COUNT(modules), module_of(model, frame));
}

static enum rank rank_place(const struct gp_place *place)
{
	if (place->kind == GP_FRAME_PYTHON)
		return rank_by(python_files, COUNT(python_files), place->file);
	for (size_t i = 0; i < COUNT(functions); i++)
		if (fnmatch(functions[i].pattern, place->function, 0) == 0)
			return functions[i].rank;
	return rank_by(source_files, COUNT(source_files), place->file);
}

static const char *owner_of(const struct gp_model *model, const struct gp_frame *frame)
{
	const char *path = module_of(model, frame);

	for (size_t i = 0; i < COUNT(owners); i++)
		if (matches(owners[i].pattern, path))
			return owners[i].owner;
	return "";
}

/* ---- a stack's texts ---- */

static void append(char *text, const char *separator, const struct gp_place *place)
{
	size_t used = strlen(text);
	const char *file = last_part(place->file);

	used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s", separator,
				 place->function);
	if (used < TEXT_BYTES && file[0] != '\0' && place->line > 0)
		snprintf(text + used, TEXT_BYTES - used, " (%s:%u)", file, place->line);
}

/* The places of a stack from the innermost on, those of the wanted rank taken. */
struct walk {
	enum rank wanted;
	uint32_t taken;
	uint32_t site; /* the frame of the first one */
	struct texts *texts;
};

static void take_place(struct walk *walk, uint32_t frame, const struct gp_place *place)
{
	if (walk->taken == 0) {
		walk->site = frame;
		append(walk->texts->place, "", place);
	} else {
		append(walk->texts->callers, walk->taken > 1 ? GP_SITE_SEPARATOR : "", place);
	}
	walk->taken++;
}

static void take_frame(struct gp_call_sites *sites, const struct gp_model *model, uint32_t index,
		       struct walk *walk)
{
	enum rank rank = rank_frame(model, &model->frames[index]);
	const struct gp_place *places;
	size_t count;

	if (rank > walk->wanted)
		return;
	places = gp_symbols_find(sites->symbols, model, index, &count);
	for (size_t i = 0; i < count && walk->taken <= GP_SITE_CALLERS; i++)
		if ((rank > OWN ? rank : rank_place(&places[i])) == walk->wanted)
			take_place(walk, index, &places[i]);
}

static void take_stack(struct gp_call_sites *sites, const struct gp_model *model, uint32_t stack,
		       struct texts *texts)
{
	struct walk walk = {.texts = texts};

	for (; walk.wanted < RANKS && walk.taken == 0; walk.wanted++)
		for (uint32_t at = stack; at != GP_NONE && walk.taken <= GP_SITE_CALLERS;
		     at = model->frames[at].parent)
			take_frame(sites, model, at, &walk);
	for (uint32_t at = stack; at != walk.site && texts->owner[0] == '\0';
	     at = model->frames[at].parent)
		texts->owner = owner_of(model, &model->frames[at]);
}

/* ---- numbers ---- */

static bool append_site(struct gp_call_sites *sites, const struct texts *texts)
{
	struct site site = {strdup(texts->place), strdup(texts->callers), texts->owner};

	if (site.place && site.callers &&
	    gp_array_grow(&sites->sites, &sites->site_capacity, sites->site_count,
			  sizeof(*sites->sites)) == 0) {
		sites->sites[sites->site_count++] = site;
		return true;
	}
	free(site.place);
	free(site.callers);
	return false;
}

static uint32_t number_of(struct gp_call_sites *sites, const struct texts *texts)
{
	char key[2 * TEXT_BYTES + 64];
	uint32_t number;

	snprintf(key, sizeof(key), "%s\n%s\n%s", texts->place, texts->callers, texts->owner);
	number = gp_groups_find(&sites->keys, key);
	while (number != UINT32_MAX && sites->site_count <= number)
		if (!append_site(sites, texts))
			return UINT32_MAX;
	return number;
}

static uint32_t *new_numbers(const struct gp_model *model)
{
	uint32_t *numbers = malloc(((size_t)model->frame_count + 1) * sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < model->frame_count; i++)
		numbers[i] = GP_NONE;
	return numbers;
}

static uint32_t *numbers_of(struct gp_call_sites *sites, const struct gp_model *model)
{
	uint32_t *numbers;

	for (uint32_t i = sites->known_count; i-- > 0;)
		if (sites->known[i].model == model)
			return sites->known[i].numbers;
	numbers = new_numbers(model);
	if (!numbers || gp_array_grow(&sites->known, &sites->known_capacity, sites->known_count,
				      sizeof(*sites->known)) != 0) {
		free(numbers);
		return NULL;
	}
	sites->known[sites->known_count++] = (struct known){model, numbers};
	return numbers;
}

uint32_t gp_call_sites_find(struct gp_call_sites *sites, const struct gp_model *model,
			    const struct gp_call *call)
{
	uint32_t *numbers = numbers_of(sites, model);
	struct texts texts = {.owner = "", .place = "", .callers = ""};

	if (!numbers)
		return UINT32_MAX;
	if (call->stack == GP_NONE) {
		snprintf(texts.place, sizeof(texts.place), "(%s, without a call stack)",
			 gp_model_api(model, call->api).name);
		return number_of(sites, &texts);
	}
	if (numbers[call->stack] == GP_NONE) {
		take_stack(sites, model, call->stack, &texts);
		numbers[call->stack] = number_of(sites, &texts);
	}
	return numbers[call->stack];
}

uint32_t gp_call_sites_of_places(struct gp_call_sites *sites, const struct gp_place *places,
				 size_t count)
{
	struct texts texts = {.owner = "", .place = "", .callers = ""};
	struct walk walk = {.texts = &texts};

	for (; walk.wanted < RANKS && walk.taken == 0; walk.wanted++)
		for (size_t i = 0; i < count && walk.taken <= GP_SITE_CALLERS; i++)
			if (rank_place(&places[i]) == walk.wanted)
				take_place(&walk, GP_NONE, &places[i]);
	return number_of(sites, &texts);
}

struct gp_call_site gp_call_sites_at(const struct gp_call_sites *sites, uint32_t number)
{
	const struct site *site;

	if (number >= sites->site_count)
		return (struct gp_call_site){"(no memory)", "", ""};
	site = &sites->sites[number];
	return (struct gp_call_site){site->place, site->callers, site->owner};
}

void gp_call_sites_explain(const struct gp_call_sites *sites, FILE *out)
{
	gp_symbols_explain(sites->symbols, out);
}
