#include "report/symbols/call_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

static bool is_site(const void *sites, uint32_t number, const void *key)
{
	const struct gp_place *site = (const struct gp_place *)sites + number, *place = key;

	return site->line == place->line && site->kind == place->kind &&
	       strcmp(site->function, place->function) == 0 &&
	       strcmp(site->file, place->file) == 0 && strcmp(site->module, place->module) == 0;
}

static uint32_t hash_of_site(const struct gp_place *place)
{
	const uint32_t parts[] = {gp_hash_text(place->function), gp_hash_text(place->file),
				  gp_hash_text(place->module), (uint32_t)place->line,
				  (uint32_t)place->kind};

	return gp_hash_bytes(parts, sizeof(parts));
}

static bool is_node(const void *nodes, uint32_t number, const void *key)
{
	return memcmp((const struct gp_call_node *)nodes + number, key,
		      sizeof(struct gp_call_node)) == 0;
}

static uint32_t fail(struct gp_call_tree *tree, int error)
{
	if (tree->error == 0)
		tree->error = error;
	return GP_NONE;
}

/* ---- sites ---- */

static void free_texts(struct gp_place *site)
{
	free((char *)site->function);
	free((char *)site->symbol);
	free((char *)site->file);
	free((char *)site->module);
}

static uint32_t add_site(struct gp_call_tree *tree, const struct gp_place *place, uint32_t hash)
{
	struct gp_place copy = *place;

	gp_array_grow(&tree->sites, &tree->site_capacity, tree->site_count, sizeof(*tree->sites));
	copy.function = strdup(place->function);
	copy.symbol = place->symbol ? strdup(place->symbol) : NULL;
	copy.file = strdup(place->file);
	copy.module = strdup(place->module);
	gp_hash_add(&tree->index_of_sites, hash, tree->site_count);
	tree->sites[tree->site_count] = copy;
	return tree->site_count++;
}

static uint32_t find_site(struct gp_call_tree *tree, const struct gp_place *place)
{
	struct gp_place wanted = *place;
	uint32_t hash, found;

	if (!tree->has_lines)
		wanted.line = 0;
	hash = hash_of_site(&wanted);
	found = gp_hash_find(&tree->index_of_sites, hash, is_site, tree->sites, &wanted);
	return found != GP_HASH_NONE ? found : add_site(tree, &wanted, hash);
}

/* ---- nodes ---- */

static uint32_t add_node(struct gp_call_tree *tree, const struct gp_call_node *node, uint32_t hash)
{
	gp_array_grow(&tree->nodes, &tree->node_capacity, tree->node_count, sizeof(*tree->nodes));
	gp_hash_add(&tree->index_of_nodes, hash, tree->node_count);
	tree->nodes[tree->node_count] = *node;
	return tree->node_count++;
}

static uint32_t find_node(struct gp_call_tree *tree, uint32_t parent, const struct gp_place *place)
{
	struct gp_call_node wanted = {parent, find_site(tree, place)};
	uint32_t hash = gp_hash_bytes(&wanted, sizeof(wanted)), found;

	if (wanted.site == GP_NONE)
		return GP_NONE;
	found = gp_hash_find(&tree->index_of_nodes, hash, is_node, tree->nodes, &wanted);
	return found != GP_HASH_NONE ? found : add_node(tree, &wanted, hash);
}

uint32_t gp_call_tree_add(struct gp_call_tree *tree, uint32_t parent, const struct gp_place *place)
{
	uint32_t node = tree->error == 0 ? find_node(tree, parent, place) : GP_NONE;

	return node != GP_NONE ? node : GP_CALL_TREE_NO_STACK;
}

/* ---- frames ---- */

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Function names of the statically linked CUDA runtime; others are named like the API. */
static bool is_of_static_runtime(const struct gp_model *model, const char *function)
{
	if (begins_with(function, "libcudart_static_"))
		return true;
	if (begins_with(function, "__cudart"))
		return isdigit((unsigned char)function[strlen("__cudart")]);
	if (begins_with(function, "__cuda"))
		return isupper((unsigned char)function[strlen("__cuda")]);
	return begins_with(function, "cuda") && isupper((unsigned char)function[4]) &&
	       gp_model_calls_api(model, function);
}

/*
 * Whether the module is below the program's own code, so that its frames say nothing about the
 * program: CUDA, the profiler.
 */
static bool is_module_below(const struct gp_model *model, const struct gp_frame *frame)
{
	static const char *const libraries[] = {"libcuda.so",  "libcudart.so",  "libcudart-",
						"libcupti.so", "libgpuprof.so", "libgpusim.so"};
	const char *name;

	if (frame->kind != GP_FRAME_NATIVE || frame->origin == GP_NONE)
		return false;
	name = basename(gp_model_module_path(model, &model->modules[frame->origin]));
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (begins_with(name, libraries[i]))
			return true;
	return false;
}

static bool is_function_below(const struct gp_model *model, const struct gp_place *place)
{
	return place->kind == GP_FRAME_NATIVE &&
	       (place->is_stub || is_of_static_runtime(model, place->function));
}

/* The node of a frame below the caller's node `parent`: one for each function inlined there. */
static uint32_t hang_frame(struct gp_call_tree *tree, uint32_t index, uint32_t parent)
{
	static const struct gp_place lost = {.function = "(callers are missing in the trace)",
					     .file = "",
					     .module = "",
					     .kind = GP_FRAME_CUT};
	const struct gp_frame *frame = &tree->model->frames[index];
	const struct gp_place *places;
	size_t count;

	if (frame->has_no_root)
		parent = find_node(tree, GP_NONE, &lost);
	if (is_module_below(tree->model, frame))
		return parent;
	places = gp_symbols_find(tree->symbols, tree->model, index, &count);
	if (is_function_below(tree->model, &places[count - 1]))
		return parent;
	while (count-- > 0 && !places[count].is_stub && tree->error == 0)
		parent = find_node(tree, parent, &places[count]);
	return parent;
}

uint32_t gp_call_tree_find(struct gp_call_tree *tree, uint32_t frame)
{
	uint32_t path[GP_FRAME_DEPTH], count = 0, node = GP_NONE;

	if (frame == GP_NONE || tree->error != 0)
		return GP_CALL_TREE_NO_STACK;
	for (uint32_t at = frame; at != GP_NONE && count < GP_FRAME_DEPTH;
	     at = tree->model->frames[at].parent) {
		node = tree->nodes_of_frames[at];
		if (node != GP_NONE)
			break;
		path[count++] = at;
	}
	while (count-- > 0 && tree->error == 0) {
		node = hang_frame(tree, path[count], node);
		tree->nodes_of_frames[path[count]] = node;
	}
	return tree->error == 0 && node != GP_NONE ? node : GP_CALL_TREE_NO_STACK;
}

const struct gp_place *gp_call_tree_site(const struct gp_call_tree *tree, uint32_t node)
{
	return &tree->sites[tree->nodes[node].site];
}

const uint32_t *gp_call_tree_path(struct gp_call_tree *tree, uint32_t node, uint32_t *length)
{
	uint32_t count = 0;

	for (uint32_t at = node; at != GP_NONE; at = tree->nodes[at].parent)
		count++;
	if (count > tree->path_capacity) {
		uint32_t *grown = realloc(tree->path, 2 * (size_t)count * sizeof(*grown));

		tree->path = grown;
		tree->path_capacity = 2 * count;
	}
	*length = count;
	for (uint32_t at = node; at != GP_NONE; at = tree->nodes[at].parent)
		tree->path[--count] = at;
	return tree->path;
}

/* ---- open and close ---- */

int gp_call_tree_open(struct gp_call_tree *tree, bool with_lines)
{
	static const struct gp_place none = {
		.function = "(no call stack)", .file = "", .module = "", .kind = GP_FRAME_CUT};

	*tree = (struct gp_call_tree){.has_lines = with_lines, .symbols = gp_symbols_new()};
	if (!tree->symbols || find_node(tree, GP_NONE, &none) == GP_NONE)
		return -ENOMEM;
	return 0;
}

int gp_call_tree_use(struct gp_call_tree *tree, const struct gp_model *model)
{
	if (tree->model)
		gp_symbols_forget(tree->symbols, tree->model);
	free(tree->nodes_of_frames);
	tree->nodes_of_frames = NULL;
	tree->model = model;
	if (!model)
		return 0;
	tree->nodes_of_frames = malloc(((size_t)model->frame_count + 1) * sizeof(uint32_t));
	if (!tree->nodes_of_frames) {
		fail(tree, -ENOMEM);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < model->frame_count; i++)
		tree->nodes_of_frames[i] = GP_NONE;
	return 0;
}

void gp_call_tree_close(struct gp_call_tree *tree)
{
	gp_hash_free(&tree->index_of_nodes);
	gp_hash_free(&tree->index_of_sites);
	for (uint32_t i = 0; i < tree->site_count; i++)
		free_texts(&tree->sites[i]);
	free(tree->sites);
	free(tree->nodes);
	free(tree->nodes_of_frames);
	free(tree->path);
	gp_symbols_free(tree->symbols);
	*tree = (struct gp_call_tree){0};
}
