#include "report/analysis/loop/phase_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/group_by.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/symbols.h"

#define TEXT_BYTES 512
#define NOBODY     GP_NONE
#define MOST       (GP_PHASE_OTHER - 1u)

/* A function of the user's in a frame. */
struct own {
	uint32_t function; /* its number */
	uint32_t line;     /* the number of "function (file:line)" */
};

/* Where a stack is on the way to the loop's function. */
struct at {
	uint32_t depth; /* so many of the path were called, one by the other */
	uint32_t label; /* number of a text: what the loop's function called, or its own line */
	bool is_called; /* what the loop's function called; the callees of that are the same phase */
	bool is_left;   /* the user's code is another one than the path */
};

struct search {
	const struct gp_model *model;
	const uint32_t *calls;
	struct gp_symbols *symbols;
	struct gp_groups texts; /* only keys */
	struct own *own;        /* of all frames; of one the outermost of inlined ones first */
	uint32_t own_count, own_capacity;
	uint32_t *own_ends; /* by index in frames: past its last one */
	struct at *at;      /* by index in frames */
	uint64_t *weights;  /* by number of a text */
	uint32_t *path;     /* of functions, the loop's last */
	uint32_t path_count, path_capacity;
	bool by_lines; /* what the path's last function calls is labeled by that function's lines */
	uint64_t all;  /* calls */
};

/* ---- the user's frames ---- */

/* Modules of one class count as one: "nn.Module: Layer_12" becomes "nn.Module: Layer". */
static void cut_number(char *text)
{
	static const char module[] = "nn.Module: ";
	char *end = strrchr(text, '_');

	if (strncmp(text, module, sizeof(module) - 1) == 0 && end && end[1] != '\0' &&
	    end[1 + strspn(end + 1, "0123456789")] == '\0')
		*end = '\0';
}

static uint32_t text_number(struct search *search, const struct gp_place *place, bool has_line)
{
	char text[TEXT_BYTES];

	gp_place_put(place, has_line, text, sizeof(text));
	cut_number(text);
	return gp_groups_find(&search->texts, text);
}

static void add_own(struct search *search, const struct gp_place *place)
{
	struct own own = {text_number(search, place, false), text_number(search, place, true)};

	gp_array_grow(&search->own, &search->own_capacity, search->own_count, sizeof(*search->own));
	search->own[search->own_count++] = own;
}

static void find_own(struct search *search)
{
	for (uint32_t i = 0; i < search->model->frame_count; i++) {
		const struct gp_place *places = NULL;
		size_t count = 0;

		if (gp_code_may_be_own(search->model, &search->model->frames[i]))
			places = gp_symbols_find(search->symbols, search->model, i, &count);
		while (count-- > 0)
			if (gp_code_owner_of_place(&places[count]) == GP_CODE_OWN)
				add_own(search, &places[count]);
		search->own_ends[i] = search->own_count;
	}
}

/* ---- the loop's function ---- */

static void step_into(const struct search *search, struct at *at, const struct own *own)
{
	if (at->is_left || at->is_called)
		return;
	if (at->depth < search->path_count) {
		at->is_left = search->path[at->depth] != own->function;
		at->depth += !at->is_left;
		at->label = own->line;
		return;
	}
	at->is_called = true;
	if (!search->by_lines)
		at->label = own->function;
}

static void follow_path(struct search *search)
{
	for (uint32_t i = 0; i < search->model->frame_count; i++) {
		uint32_t parent = search->model->frames[i].parent;

		search->at[i] =
			parent == GP_NONE ? (struct at){.label = NOBODY} : search->at[parent];
		for (uint32_t k = i > 0 ? search->own_ends[i - 1] : 0; k < search->own_ends[i]; k++)
			step_into(search, &search->at[i], &search->own[k]);
	}
}

static bool is_in_loop(const struct search *search, uint32_t stack)
{
	const struct at *at = &search->at[stack];

	return !at->is_left && at->depth == search->path_count && at->label != NOBODY;
}

enum stacks {
	ALL,
	IN_LOOP, /* the path's end is among the callers */
	CALLEES, /* of these, where it called a function of the user's */
};

static bool is_of(const struct search *search, uint32_t stack, enum stacks stacks)
{
	return stacks == ALL ||
	       (is_in_loop(search, stack) && (stacks == IN_LOOP || search->at[stack].is_called));
}

/* By text: the calls of the stacks that have it as a label. */
static void weigh(struct search *search, enum stacks stacks)
{
	memset(search->weights, 0, search->texts.count * sizeof(*search->weights));
	for (uint32_t i = 0; i < search->model->frame_count; i++)
		if (search->calls[i] > 0 && search->at[i].label != NOBODY &&
		    is_of(search, i, stacks))
			search->weights[search->at[i].label] += search->calls[i];
}

/* The callee that makes nearly all calls, or NOBODY. */
static uint32_t next_of_path(struct search *search)
{
	follow_path(search);
	weigh(search, CALLEES);
	for (uint32_t i = 0; i < search->texts.count; i++)
		if (search->weights[i] * 100 >= search->all * GP_PHASE_FUNCTION_PERCENT)
			return i;
	return NOBODY;
}

static void find_path(struct search *search)
{
	for (uint32_t next;
	     search->path_count < GP_FRAME_DEPTH && (next = next_of_path(search)) != NOBODY;) {
		gp_array_grow(&search->path, &search->path_capacity, search->path_count,
			      sizeof(*search->path));
		search->path[search->path_count++] = next;
	}
}

/* The largest share of one label in the calls of the path's end; returns how many have any. */
static uint32_t count_labels(struct search *search, uint64_t *top_percent)
{
	uint64_t all = 0, most = 0;
	uint32_t count = 0;

	follow_path(search);
	weigh(search, IN_LOOP);
	for (uint32_t i = 0; i < search->texts.count; i++) {
		count += search->weights[i] > 0;
		all += search->weights[i];
		most = search->weights[i] > most ? search->weights[i] : most;
	}
	*top_percent = all > 0 ? most * 100 / all : 100;
	return count;
}

static bool is_divided(struct search *search)
{
	uint64_t top_percent;

	return count_labels(search, &top_percent) > 1 && top_percent < GP_PHASE_FUNCTION_PERCENT;
}

/*
 * The path may end in a wrapper, which makes all calls at one line. Then the loop's function is the
 * deepest caller whose lines divide the calls; else the outermost function that has two phases.
 */
static void leave_wrappers(struct search *search)
{
	uint32_t end = search->path_count;
	uint64_t percent;

	if (is_divided(search))
		return;
	search->by_lines = true;
	for (; search->path_count > 0; search->path_count--)
		if (is_divided(search))
			return;
	search->by_lines = false;
	for (; search->path_count < end; search->path_count++)
		if (count_labels(search, &percent) > 1)
			return;
	follow_path(search);
}

/* ---- phases ---- */

/* The text with most calls that has no number yet; NOBODY: none has any. */
static uint32_t heaviest(const struct search *search, const uint8_t *numbers)
{
	uint32_t found = NOBODY;

	for (uint32_t i = 0; i < search->texts.count; i++)
		if (numbers[i] == GP_PHASE_NONE && search->weights[i] > 0 &&
		    (found == NOBODY || search->weights[i] > search->weights[found]))
			found = i;
	return found;
}

static void number_phases(struct search *search, struct gp_phase_functions *functions,
			  uint8_t *numbers)
{
	uint32_t text;

	weigh(search, ALL);
	while (functions->count < MOST && (text = heaviest(search, numbers)) != NOBODY) {
		numbers[text] = (uint8_t)++functions->count;
		functions->names[functions->count] = strdup(search->texts.rows[text].key);
	}
	functions->names[GP_PHASE_OTHER] = strdup(gp_phase_kind_name(GP_PHASE_OTHER));
}

/* A stack outside of the user's code has no phase. */
static void make_marks(struct search *search, struct gp_phase_functions *functions)
{
	uint8_t *numbers = calloc((size_t)search->texts.count + 1, sizeof(*numbers));

	number_phases(search, functions, numbers);
	for (uint32_t i = 0; i < search->model->frame_count; i++) {
		uint32_t label = search->at[i].label;

		if (label != NOBODY)
			functions->marks[i] =
				numbers[label] != GP_PHASE_NONE ? numbers[label] : GP_PHASE_OTHER;
	}
	free(numbers);
}

void gp_phase_functions_of(struct gp_phase_functions *functions, const struct gp_model *model,
			   const uint32_t *calls)
{
	size_t frames = (size_t)model->frame_count + 1;
	struct search search = {
		.model = model,
		.calls = calls,
		.symbols = gp_symbols_new(),
		.own_ends = calloc(frames, sizeof(*search.own_ends)),
		.at = calloc(frames, sizeof(*search.at)),
	};

	*functions = (struct gp_phase_functions){.marks = calloc(frames, 1)};
	for (uint32_t i = 0; i < model->frame_count; i++)
		search.all += calls[i];
	find_own(&search);
	search.weights = calloc((size_t)search.texts.count + 1, sizeof(*search.weights));
	find_path(&search);
	leave_wrappers(&search);
	make_marks(&search, functions);
	gp_symbols_free(search.symbols);
	gp_groups_free(&search.texts);
	free(search.own);
	free(search.own_ends);
	free(search.at);
	free(search.weights);
	free(search.path);
}

void gp_phase_functions_free(struct gp_phase_functions *functions)
{
	free(functions->marks);
	for (int i = 0; i < GP_PHASE_KINDS; i++)
		free(functions->names[i]);
	*functions = (struct gp_phase_functions){0};
}
