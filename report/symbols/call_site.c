#include "report/symbols/call_site.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/frame_numbers.h"
#include "report/base/group_by.h"
#include "report/symbols/symbols.h"

#define TEXT_BYTES 2048

struct owner {
	const char *pattern, *name;
};

/* Modules whose CUDA allocations are a cache of their own, not blocks of the user. */
static const struct owner owners[] = {
	{"libc10_cuda.so*", "PyTorch"},
	{"libtorch_cuda.so*", "PyTorch"},
	{"*/cupy/cuda/memory.*", "CuPy"},
	{"*/cupy/cuda/pinned_memory.*", "CuPy"},
	{"librmm.so*", "RMM"},
	{"libtensorflow*", "TensorFlow"},
	{"_pywrap_tensorflow*", "TensorFlow"},
	{"xla_*.so", "XLA"},
	{"libjax*", "XLA"},
	{"libonnxruntime*", "ONNX Runtime"},
	{"libpaddle*", "Paddle"},
};

/*
 * Modules that allocate for their handles. Such an allocation belongs to the user, or to the
 * library itself if one of the owners above makes it.
 */
static const struct owner libraries[] = {
	{"libcublas*", "cuBLAS"}, {"libcudnn*", "cuDNN"},       {"libcufft*", "cuFFT"},
	{"libcurand*", "cuRAND"}, {"libcusolver*", "cuSOLVER"}, {"libcusparse*", "cuSPARSE"},
	{"libnccl*", "NCCL"},
};

/* The last call without a stack. */
struct stackless {
	const struct gp_model *model;
	uint16_t api;
	uint32_t site;
};

struct texts {
	char place[TEXT_BYTES], callers[TEXT_BYTES];
	const char *owner;
	bool is_own;
	enum gp_naming naming;
};

struct site {
	char *place, *callers;
	const char *owner;
	bool is_own;
	enum gp_naming naming;
};

/* The stacks that stand for those of a model's calls. */
struct other_stacks {
	const struct gp_model *model;
	const uint32_t *stacks;
};

struct gp_call_sites {
	struct gp_symbols *symbols;
	struct gp_groups keys; /* all texts of a site in one key */
	struct site *sites;    /* parallel to keys */
	uint32_t site_count, site_capacity;
	struct gp_frame_numbers known; /* by stack: the number of its site */
	struct stackless stackless;
	struct other_stacks *others;
	uint32_t other_count, other_capacity;
};

struct gp_call_sites *gp_call_sites_new(void)
{
	struct gp_call_sites *sites = calloc(1, sizeof(*sites));

	sites->symbols = gp_symbols_new();
	return sites;
}

void gp_call_sites_free(struct gp_call_sites *sites)
{
	if (!sites)
		return;
	for (uint32_t i = 0; i < sites->site_count; i++) {
		free(sites->sites[i].place);
		free(sites->sites[i].callers);
	}
	free(sites->sites);
	free(sites->others);
	gp_frame_numbers_free(&sites->known);
	gp_groups_free(&sites->keys);
	gp_symbols_free(sites->symbols);
	free(sites);
}

/* ---- owner of the code ---- */

static const char *module_of(const struct gp_model *model, const struct gp_frame *frame)
{
	return frame->kind == GP_FRAME_NATIVE && frame->origin != GP_NONE
		       ? gp_model_module_path(model, &model->modules[frame->origin])
		       : "";
}

/* The owner as far as it is known without reading files. */
static enum gp_code_owner rank_frame(const struct gp_model *model, const struct gp_frame *frame)
{
	if (frame->kind == GP_FRAME_PYTHON)
		return GP_CODE_OWN;
	if (frame->kind != GP_FRAME_NATIVE)
		return GP_CODE_BENEATH;
	return gp_code_owner_of_module(module_of(model, frame));
}

static const char *find_owner(const struct owner *table, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (gp_code_matches(table[i].pattern, path))
			return table[i].name;
	return "";
}

/* ---- texts of a stack ---- */

static void append(char *text, const char *separator, const struct gp_place *place)
{
	size_t used = strlen(text);

	used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", separator);
	if (used < TEXT_BYTES)
		gp_place_put(place, true, text + used, TEXT_BYTES - used);
}

/* Goes through the places of a stack from the innermost on, and takes those of the wanted owner. */
struct walk {
	enum gp_code_owner wanted;
	uint32_t taken;
	uint32_t site; /* frame of the first place */
	struct texts *texts;
	const struct gp_place *last; /* the place taken last */
};

/*
 * A compiler divides a function, and inlines the beginning where it is called: the call of the rest
 * has no line of its own there, but that of any code before it.
 */
static bool calls_rest(const struct walk *walk, const struct gp_place *inlined)
{
	return walk->taken > 0 && strcmp(walk->last->function, inlined->function) == 0 &&
	       strcmp(walk->last->file, inlined->file) == 0;
}

static void take_place(struct walk *walk, uint32_t frame, const struct gp_place *place)
{
	if (walk->taken == 0) {
		walk->site = frame;
		walk->texts->naming = place->naming;
		append(walk->texts->place, "", place);
	} else {
		append(walk->texts->callers, walk->taken > 1 ? GP_SITE_SEPARATOR : "", place);
	}
	walk->taken++;
	walk->last = place;
}

static void take_frame(struct gp_call_sites *sites, const struct gp_model *model, uint32_t index,
		       struct walk *walk)
{
	const struct gp_place *places;
	size_t count;

	if (rank_frame(model, &model->frames[index]) > walk->wanted)
		return;
	places = gp_symbols_find(sites->symbols, model, index, &count);
	for (size_t i = 0; i < count && walk->taken <= GP_SITE_CALLERS; i++)
		if (gp_code_owner_of_frame(&places[i]) == walk->wanted &&
		    !(i == 0 && count > 1 && calls_rest(walk, &places[i])))
			take_place(walk, index, &places[i]);
}

/*
 * Searches below the user's function. A thread of a library (PyTorch's backward pass) has none:
 * there all frames are searched. Of two owners the inner one allocates: cuBLAS for PyTorch, or
 * PyTorch's allocator for a library. Other calls of both have the same site.
 */
static void take_owner(const struct gp_model *model, const struct gp_call *call, uint32_t end,
		       struct texts *texts)
{
	bool allocates = gp_model_api_class(model, call->api) == GP_API_ALLOC;
	const char *library = "";

	for (uint32_t at = call->stack; at != end && at != GP_NONE && texts->owner[0] == '\0';
	     at = model->frames[at].parent) {
		const char *path = module_of(model, &model->frames[at]);

		if (allocates && library[0] == '\0')
			library = find_owner(libraries, COUNT(libraries), path);
		texts->owner = find_owner(owners, COUNT(owners), path);
	}
	if (texts->owner[0] != '\0' && library[0] != '\0')
		texts->owner = library;
}

/* Finds the operator of PyTorch's backward pass in the stack. Returns false if there is none. */
static bool take_backward(struct gp_call_sites *sites, const struct gp_model *model,
			  const struct gp_call *call, struct walk *walk)
{
	const struct gp_place *places;
	size_t count;

	for (uint32_t at = call->stack; at != GP_NONE; at = model->frames[at].parent) {
		if (rank_frame(model, &model->frames[at]) > walk->wanted)
			continue;
		places = gp_symbols_find(sites->symbols, model, at, &count);
		for (size_t i = 0; i < count; i++)
			if (gp_code_is_backward(places[i].function)) {
				take_place(walk, at, &places[i]);
				return true;
			}
	}
	return false;
}

static void take_stack(struct gp_call_sites *sites, const struct gp_model *model,
		       const struct gp_call *call, struct texts *texts)
{
	struct walk walk = {.texts = texts, .site = GP_NONE};
	enum gp_code_owner found = GP_CODE_OWNERS;

	for (; walk.wanted < GP_CODE_OWNERS && walk.taken == 0; walk.wanted++) {
		found = walk.wanted;
		if (found == GP_CODE_FRAMEWORK && take_backward(sites, model, call, &walk))
			break;
		for (uint32_t at = call->stack; at != GP_NONE && walk.taken <= GP_SITE_CALLERS;
		     at = model->frames[at].parent)
			take_frame(sites, model, at, &walk);
	}
	texts->is_own = walk.taken > 0 && found == GP_CODE_OWN;
	take_owner(model, call, found == GP_CODE_OWN ? walk.site : GP_NONE, texts);
}

/* ---- numbers of sites ---- */

static void append_site(struct gp_call_sites *sites, const struct texts *texts)
{
	struct site site = {strdup(texts->place), strdup(texts->callers), texts->owner,
			    texts->is_own, texts->naming};

	gp_array_grow(&sites->sites, &sites->site_capacity, sites->site_count,
		      sizeof(*sites->sites));
	sites->sites[sites->site_count++] = site;
}

static uint32_t number_of(struct gp_call_sites *sites, const struct texts *texts)
{
	char key[2 * TEXT_BYTES + 64];
	uint32_t number;

	snprintf(key, sizeof(key), "%s\n%s\n%s", texts->place, texts->callers, texts->owner);
	number = gp_groups_find(&sites->keys, key);
	while (sites->site_count <= number)
		append_site(sites, texts);
	return number;
}

/* Such calls often follow each other with the same API function. */
static uint32_t find_stackless(struct gp_call_sites *sites, const struct gp_model *model,
			       uint16_t api)
{
	struct texts texts = {.owner = "", .place = "", .callers = ""};

	if (sites->stackless.model == model && sites->stackless.api == api)
		return sites->stackless.site;
	snprintf(texts.place, sizeof(texts.place), "(%s, " GP_SITE_WITHOUT_STACK ")",
		 gp_model_api(model, api).name);
	sites->stackless = (struct stackless){model, api, number_of(sites, &texts)};
	return sites->stackless.site;
}

void gp_call_sites_use_stacks(struct gp_call_sites *sites, const struct gp_model *model,
			      const uint32_t *stacks)
{
	if (!stacks)
		return;
	gp_array_grow(&sites->others, &sites->other_capacity, sites->other_count,
		      sizeof(*sites->others));
	sites->others[sites->other_count++] = (struct other_stacks){model, stacks};
}

/* The call with the stack that stands for its own. */
static struct gp_call with_other_stack(const struct gp_call_sites *sites,
				       const struct gp_model *model, const struct gp_call *call)
{
	struct gp_call found = *call;

	for (uint32_t i = 0; i < sites->other_count; i++) {
		uint32_t stack = sites->others[i].model == model
					 ? sites->others[i].stacks[call - model->calls]
					 : GP_NONE;

		found.stack = stack != GP_NONE ? stack : found.stack;
	}
	return found;
}

static uint32_t find_site(struct gp_call_sites *sites, const struct gp_model *model,
			  const struct gp_call *call)
{
	struct gp_frame_numbers_of *known;
	struct texts texts = {.owner = "", .place = "", .callers = ""};

	if (call->stack == GP_NONE)
		return find_stackless(sites, model, call->api);
	known = gp_frame_numbers_of(&sites->known, model);
	if (known->numbers[call->stack] == GP_NONE) {
		take_stack(sites, model, call, &texts);
		known->numbers[call->stack] = number_of(sites, &texts);
	}
	return known->numbers[call->stack];
}

uint32_t gp_call_sites_find(struct gp_call_sites *sites, const struct gp_model *model,
			    const struct gp_call *call)
{
	const struct gp_call found = with_other_stack(sites, model, call);

	return find_site(sites, model, &found);
}

uint32_t gp_call_sites_of_places(struct gp_call_sites *sites, const struct gp_place *places,
				 size_t count)
{
	struct texts texts = {.owner = "", .place = "", .callers = ""};
	struct walk walk = {.texts = &texts};

	for (; walk.wanted < GP_CODE_OWNERS && walk.taken == 0; walk.wanted++) {
		texts.is_own = walk.wanted == GP_CODE_OWN;
		for (size_t i = 0; i < count && walk.taken <= GP_SITE_CALLERS; i++)
			if (gp_code_owner_of_place(&places[i]) == walk.wanted)
				take_place(&walk, GP_NONE, &places[i]);
	}
	return number_of(sites, &texts);
}

uint32_t gp_call_sites_of_text(struct gp_call_sites *sites, struct gp_call_site site)
{
	struct texts texts = {.owner = site.owner, .is_own = site.is_own, .naming = site.naming};

	snprintf(texts.place, sizeof(texts.place), "%s", site.place);
	snprintf(texts.callers, sizeof(texts.callers), "%s", site.callers);
	return number_of(sites, &texts);
}

struct gp_call_site gp_call_sites_at(const struct gp_call_sites *sites, uint32_t number)
{
	const struct site *site = &sites->sites[number];

	return (struct gp_call_site){site->place, site->callers, site->owner, site->is_own,
				     site->naming};
}

uint32_t gp_call_site_line(const char *place, size_t *length)
{
	size_t at = *length, digits = 0;
	uint32_t line = 0, unit = 1;

	if (at == 0 || place[--at] != ')')
		return 0;
	for (; at > 0 && place[at - 1] >= '0' && place[at - 1] <= '9' && digits < 9; digits++) {
		line += (uint32_t)(place[--at] - '0') * unit;
		unit *= 10;
	}
	if (digits == 0 || at == 0 || place[at - 1] != ':')
		return 0;
	*length = at - 1;
	return line;
}

/* The end of the caller after the first `bytes` bytes of callers. */
static size_t end_of_next(const char *callers, size_t bytes)
{
	const char *from = callers + bytes, *end;

	if (bytes > 0 && *from != '\0')
		from += strlen(GP_SITE_SEPARATOR);
	end = strstr(from, GP_SITE_SEPARATOR);
	return end ? (size_t)(end - callers) : bytes + strlen(callers + bytes);
}

size_t gp_call_site_same_callers(const char *a, const char *b)
{
	size_t same = 0;

	while (a[same] != '\0' && b[same] != '\0') {
		size_t end = end_of_next(a, same);

		if (end != end_of_next(b, same) || strncmp(a, b, end) != 0)
			break;
		same = end;
	}
	return same;
}

size_t gp_call_sites_tell_apart(const struct gp_call_sites *sites, uint32_t number)
{
	const struct site *site = number < sites->site_count ? &sites->sites[number] : NULL;
	size_t same = SIZE_MAX;

	for (uint32_t i = 0; site && i < sites->site_count; i++) {
		const struct site *other = &sites->sites[i];
		size_t bytes;

		if (strcmp(other->place, site->place) != 0 ||
		    strcmp(other->callers, site->callers) == 0)
			continue;
		bytes = gp_call_site_same_callers(site->callers, other->callers);
		same = bytes < same ? bytes : same;
	}
	return same == SIZE_MAX ? 0 : end_of_next(site->callers, same);
}

void gp_call_sites_explain(const struct gp_call_sites *sites, FILE *out)
{
	gp_symbols_explain(sites->symbols, out);
}
