#include "report/analysis/loop/phase_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/group_by.h"
#include "report/base/tally.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/symbols.h"

#define TEXT_BYTES 512

struct gp_phase_places {
	const struct gp_model *model;
	struct gp_symbols *symbols;
	struct gp_tally times; /* ns by group and stack */
};

struct gp_phase_places *gp_phase_places_new(const struct gp_model *model)
{
	struct gp_phase_places *places = calloc(1, sizeof(*places));

	places->model = model;
	places->symbols = gp_symbols_new();
	return places;
}

void gp_phase_places_free(struct gp_phase_places *places)
{
	if (!places)
		return;
	gp_symbols_free(places->symbols);
	gp_tally_free(&places->times);
	free(places);
}

void gp_phase_places_add(struct gp_phase_places *places, uint32_t stack, uint32_t group,
			 uint64_t ns)
{
	const uint64_t key[GP_TALLY_KEYS] = {group, stack};

	if (stack != GP_NONE)
		gp_tally_find(&places->times, key)->sums[0] += ns;
}

/* ---- the way from the outermost function inwards ---- */

/* A stack's functions of the user's and of Python libraries, the outermost first. */
struct chain {
	uint32_t first, end; /* in functions[] */
	uint64_t ns;         /* 0: it left the way */
	uint32_t text;       /* its number at the level that is followed, or GP_NONE */
};

struct way {
	const struct gp_phase_places *places;
	const struct gp_place **functions; /* of all chains */
	struct chain *chains;
	uint32_t function_count, function_capacity, chain_count, chain_capacity;
	uint64_t all_ns;
	struct gp_groups texts; /* only keys; of one level */
	uint64_t *weights;      /* by number of a text */
	uint32_t weight_capacity;
	const struct gp_place *place, *library; /* the last of the user's; what it calls */
	const struct gp_place *caller;          /* of place, of the user's too */
	bool has_line, is_nearly_all;           /* of place: one line has half, or nearly all */
	bool failed;
};

static bool is_own(const struct gp_place *place)
{
	return gp_code_owner_of_frame(place) == GP_CODE_OWN;
}

static bool is_of_way(const struct gp_place *place)
{
	return place->kind == GP_FRAME_PYTHON ? gp_code_owner_of_frame(place) != GP_CODE_BENEATH
					      : is_own(place);
}

/* The innermost of inlined functions first. */
static void add_functions(struct way *way, uint32_t frame)
{
	size_t count;
	const struct gp_place *places =
		gp_symbols_find(way->places->symbols, way->places->model, frame, &count);

	for (size_t i = 0; i < count; i++) {
		if (!is_of_way(&places[i]))
			continue;
		gp_array_grow(&way->functions, &way->function_capacity, way->function_count,
			      sizeof(*way->functions));
		way->functions[way->function_count++] = &places[i];
	}
}

static void add_stack(struct way *way, uint32_t stack)
{
	const struct gp_model *model = way->places->model;
	uint32_t first = way->function_count;

	for (uint32_t at = stack; at != GP_NONE; at = model->frames[at].parent)
		if (gp_code_may_be_own(model, &model->frames[at]))
			add_functions(way, at);
	for (uint32_t i = first, k = way->function_count; i + 1 < k; i++) {
		const struct gp_place *outer = way->functions[--k];

		way->functions[k] = way->functions[i];
		way->functions[i] = outer;
	}
}

static bool has_own(const struct way *way, const struct chain *chain)
{
	for (uint32_t i = chain->first; i < chain->end; i++)
		if (is_own(way->functions[i]))
			return true;
	return false;
}

/* Only stacks with code of the user's: other threads of libraries say nothing about lines. */
static void add_chain(struct way *way, uint32_t stack, uint64_t ns)
{
	struct chain chain = {.first = way->function_count, .ns = ns};

	add_stack(way, stack);
	chain.end = way->function_count;
	if (!has_own(way, &chain))
		return;
	gp_array_grow(&way->chains, &way->chain_capacity, way->chain_count, sizeof(*way->chains));
	way->chains[way->chain_count++] = chain;
	way->all_ns += ns;
}

/* The number of a chain's text at a level; GP_NONE: it ends before, or has left. */
static uint32_t text_at(struct way *way, const struct chain *chain, uint32_t level, bool by_line)
{
	char text[TEXT_BYTES];
	uint32_t number;

	if (chain->ns == 0 || chain->first + level >= chain->end)
		return GP_NONE;
	gp_place_put(way->functions[chain->first + level], by_line, text, sizeof(text));
	number = gp_groups_find(&way->texts, text);
	while (way->weight_capacity <= number)
		gp_array_grow(&way->weights, &way->weight_capacity, way->weight_capacity,
			      sizeof(*way->weights));
	return number;
}

/*
 * The text at a level with half of the time or more, and its time; 0: there is none. The chains
 * with others leave the way.
 */
static uint64_t follow(struct way *way, uint32_t level, bool by_line, const struct gp_place **place)
{
	uint32_t found = GP_NONE;

	gp_groups_free(&way->texts);
	for (uint32_t i = 0; i < way->chain_count; i++) {
		uint32_t before = way->texts.count;
		uint32_t number = text_at(way, &way->chains[i], level, by_line);

		way->chains[i].text = number;
		if (number == GP_NONE)
			continue;
		if (number >= before)
			way->weights[number] = 0;
		way->weights[number] += way->chains[i].ns;
		if (way->weights[number] * 2 >= way->all_ns)
			found = number;
	}
	if (found == GP_NONE || way->failed)
		return 0;
	for (uint32_t i = 0; i < way->chain_count; i++) {
		struct chain *chain = &way->chains[i];

		if (chain->text == found)
			*place = way->functions[chain->first + level];
		else
			chain->ns = 0;
	}
	return way->weights[found];
}

/* Libraries that run the loop for the user: what they call tells more. */
static bool is_of_driver(const struct gp_place *place)
{
	static const char *const paths[] = {"*/transformers/trainer*.py", "*/lightning/*",
					    "*/pytorch_lightning/*", "*/accelerate/*",
					    "*/torch/utils/_contextlib.py"};

	for (size_t i = 0; i < COUNT(paths); i++)
		if (gp_code_matches(paths[i], place->file))
			return true;
	return false;
}

/* Wrappers and what a library calls itself are left out. */
static bool is_public(const struct gp_place *place)
{
	const char *dot = strrchr(place->function, '.');
	const char *name = dot ? dot + 1 : place->function;

	return !is_of_driver(place) && (name[0] != '_' || name[1] == '_') &&
	       !strstr(place->function, "<locals>");
}

static void go(struct way *way)
{
	const struct gp_place *place = NULL;

	for (uint32_t level = 0; follow(way, level, false, &place) > 0 && place; level++) {
		uint64_t line_ns;

		if (!is_own(place)) {
			if (!way->library && is_public(place))
				way->library = place;
			continue;
		}
		line_ns = follow(way, level, true, &place);
		way->caller = way->place;
		way->place = place;
		way->library = NULL;
		way->has_line = line_ns > 0;
		way->is_nearly_all = line_ns * 100 >= way->all_ns * GP_PHASE_PLACE_PERCENT;
		if (line_ns == 0)
			return;
	}
}

/* Returns text, which is to be freed; NULL if there is no memory. */
static char *put_result(const struct way *way, bool with_caller)
{
	bool has_library = way->library && way->is_nearly_all;
	char place[TEXT_BYTES] = "", caller[TEXT_BYTES] = "";
	char *text;

	if (!way->place)
		return strdup("");
	gp_place_put(way->place, way->has_line, place, sizeof(place));
	with_caller = with_caller && way->caller;
	if (with_caller)
		gp_place_put(way->caller, true, caller, sizeof(caller));
	asprintf(&text, "%s%s%s%s%s", has_library ? way->library->function : "",
		 has_library ? " < " : "", place, with_caller ? " < " : "", caller);
	return text;
}

char *gp_phase_places_most(struct gp_phase_places *places, uint32_t group, bool with_caller)
{
	struct way way = {.places = places};
	char *result;

	for (uint32_t i = 0; i < places->times.count; i++)
		if (places->times.rows[i].key[0] == group)
			add_chain(&way, (uint32_t)places->times.rows[i].key[1],
				  places->times.rows[i].sums[0]);
	go(&way);
	result = put_result(&way, with_caller);
	gp_groups_free(&way.texts);
	free(way.weights);
	free(way.functions);
	free(way.chains);
	return result;
}
