#include "report/analysis/backward/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/loop/phase_marks.h"
#include "report/base/array.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/operators.h"

#define LINE_BYTES 512

/* A stack from its innermost frame outwards, up to the engine. */
struct walk {
	struct gp_autograd_stacks *stacks;
	struct gp_autograd_stack *row;
	bool is_backward, is_compiled, is_fit, is_sum, is_parameter, is_function, communicates;
	bool by_nodes; /* the outermost operator of a kind that has nodes is taken */
};

bool gp_autograd_is_used(const struct gp_model *model)
{
	if (model->totals || model->frame_count == 0)
		return false;
	for (uint32_t i = 0; i < model->module_count; i++)
		if (gp_code_matches("libtorch*", gp_model_module_path(model, &model->modules[i])))
			return true;
	return false;
}

void gp_autograd_stacks_open(struct gp_autograd_stacks *stacks, const struct gp_model *model)
{
	*stacks = (struct gp_autograd_stacks){.model = model, .symbols = gp_symbols_new()};
	stacks->rows = calloc((size_t)model->frame_count + 1, sizeof(*stacks->rows));
	gp_phase_marks_of(model, false, &stacks->phases);
}

void gp_autograd_stacks_close(struct gp_autograd_stacks *stacks)
{
	gp_symbols_free(stacks->symbols);
	gp_groups_free(&stacks->kinds);
	gp_groups_free(&stacks->lines);
	free(stacks->has_nodes);
	free(stacks->phases);
	free(stacks->rows);
	*stacks = (struct gp_autograd_stacks){0};
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* ---- what a place adds ---- */

static void take_line(struct walk *walk, const struct gp_place *place)
{
	char line[LINE_BYTES];

	if (walk->row->line != GP_NONE || *place->file == '\0' ||
	    gp_code_owner_of_frame(place) != GP_CODE_OWN)
		return;
	gp_place_put(place, true, line, sizeof(line));
	walk->row->line = gp_groups_find(&walk->stacks->lines, line);
	walk->is_compiled = strstr(place->file, "/torchinductor_") != NULL;
}

static bool has_nodes(const struct gp_autograd_stacks *stacks, uint32_t kind)
{
	return kind < stacks->has_nodes_count && stacks->has_nodes[kind];
}

static void note_node(struct gp_autograd_stacks *stacks, uint32_t kind)
{
	while (kind != GP_NONE && stacks->has_nodes_count <= kind) {
		gp_array_grow(&stacks->has_nodes, &stacks->has_nodes_capacity,
			      stacks->has_nodes_count, sizeof(bool));
		stacks->has_nodes[stacks->has_nodes_count++] = false;
	}
	if (kind < stacks->has_nodes_count)
		stacks->has_nodes[kind] = true;
}

/* An operator that nothing inside of the engine called. */
static void take_operator(struct walk *walk, const struct gp_place *place, uint32_t frame)
{
	char kind[GP_OPERATOR_BYTES];
	uint32_t number;

	if (walk->row->role == GP_AUTOGRAD_NONE &&
	    gp_operator_kind_of_autograd(place->function, kind)) {
		walk->row->role = GP_AUTOGRAD_FORWARD;
		walk->row->kind = gp_groups_find(&walk->stacks->kinds, kind);
		walk->row->call = frame;
		return;
	}
	if (walk->row->role == GP_AUTOGRAD_FORWARD && !walk->by_nodes)
		return;
	if (!gp_operator_kind(place->function, kind))
		return;
	walk->row->has_no_kind = true;
	if (!walk->by_nodes)
		return;
	number = gp_groups_find(&walk->stacks->kinds, kind);
	if (has_nodes(walk->stacks, number)) {
		walk->row->role = GP_AUTOGRAD_FORWARD;
		walk->row->kind = number;
		walk->row->call = frame;
	}
}

/* The innermost node counts; where its function has two parts, the inner one has the calls. */
static void take_node(struct walk *walk, const struct gp_place *place, uint64_t address)
{
	const char *function = place->function;
	char kind[GP_OPERATOR_BYTES];

	if (strstr(function, "_apply_functional")) {
		walk->row->site = address;
	} else if (gp_operator_kind_of_node(function, kind)) {
		walk->row->role = GP_AUTOGRAD_NODE;
		walk->row->kind = gp_groups_find(&walk->stacks->kinds, kind);
		if (walk->row->site == 0)
			walk->row->site = address;
	} else if (begins(function, "torch::autograd::AccumulateGrad")) {
		walk->is_parameter = true;
	} else if (begins(function, "torch::autograd::PyNode::apply")) {
		walk->is_function = true;
	} else if (begins(function, "torch::autograd::validate_outputs")) {
		walk->is_fit = true;
	} else if (begins(function, "torch::autograd::InputBuffer::")) {
		walk->is_sum = true;
	}
}

/* After all nodes, the engine's thread calls what waits for their end, such as DDP. */
static bool is_engine(const char *function)
{
	return begins(function, "torch::autograd::Engine::evaluate_function") ||
	       begins(function, "torch::autograd::Engine::thread_main") ||
	       begins(function, "autograd::engine::evaluate_function");
}

static void take_place(struct walk *walk, const struct gp_place *place, uint32_t frame)
{
	take_line(walk, place);
	if (begins(place->function, "c10d::"))
		walk->communicates = true;
	if (walk->row->role != GP_AUTOGRAD_NODE && !walk->is_parameter && !walk->is_function)
		take_node(walk, place, walk->stacks->model->frames[frame].address);
	if (walk->row->role != GP_AUTOGRAD_NODE)
		take_operator(walk, place, frame);
	walk->is_backward |= is_engine(place->function);
}

/* ---- the role of a stack ---- */

static uint8_t role_in_backward(const struct walk *walk)
{
	if (walk->row->line != GP_NONE)
		return walk->is_compiled ? GP_AUTOGRAD_FUNCTION : GP_AUTOGRAD_OWN;
	if (walk->communicates)
		return GP_AUTOGRAD_COMMUNICATION;
	if (walk->row->role == GP_AUTOGRAD_NODE)
		return GP_AUTOGRAD_NODE;
	if (walk->is_parameter)
		return GP_AUTOGRAD_PARAMETER;
	if (walk->is_function)
		return GP_AUTOGRAD_FUNCTION;
	if (walk->is_fit)
		return GP_AUTOGRAD_FIT;
	return walk->is_sum ? GP_AUTOGRAD_SUM : GP_AUTOGRAD_ENGINE;
}

/* Work on parameters and data makes no nodes; nor do operators of compiled code. */
static bool is_outside_forward(uint8_t phase)
{
	return phase == GP_PHASE_OPTIMIZER || phase == GP_PHASE_GRADIENTS ||
	       phase == GP_PHASE_DATA || phase == GP_PHASE_CHECKPOINT ||
	       phase == GP_PHASE_EVALUATION;
}

static void read_stack(struct gp_autograd_stacks *stacks, uint32_t stack, bool by_nodes)
{
	struct gp_autograd_stack *row = &stacks->rows[stack];
	struct walk walk = {.stacks = stacks, .row = row, .by_nodes = by_nodes};

	*row = (struct gp_autograd_stack){
		.kind = GP_NONE, .line = GP_NONE, .call = GP_NONE, .is_read = true};
	for (uint32_t at = stack; at != GP_NONE && !walk.is_backward;
	     at = stacks->model->frames[at].parent) {
		size_t count;
		const struct gp_place *places =
			gp_symbols_find(stacks->symbols, stacks->model, at, &count);

		for (size_t i = 0; i < count; i++)
			take_place(&walk, &places[i], at);
	}
	if (walk.is_backward)
		row->role = role_in_backward(&walk);
	else if (row->role == GP_AUTOGRAD_NODE || walk.is_compiled ||
		 is_outside_forward(stacks->phases[stack]))
		row->role = GP_AUTOGRAD_NONE;
	if (row->role == GP_AUTOGRAD_NODE)
		note_node(stacks, row->kind);
	row->has_no_kind &=
		row->role == GP_AUTOGRAD_NONE && !is_outside_forward(stacks->phases[stack]);
}

const struct gp_autograd_stack *gp_autograd_stack_of(struct gp_autograd_stacks *stacks,
						     uint32_t stack)
{
	if (!stacks->rows[stack].is_read)
		read_stack(stacks, stack, false);
	return &stacks->rows[stack];
}

void gp_autograd_stacks_finish(struct gp_autograd_stacks *stacks)
{
	for (uint32_t i = 0; i < stacks->model->frame_count; i++)
		if (stacks->rows[i].has_no_kind)
			read_stack(stacks, i, true);
}

uint32_t gp_autograd_kind(const struct gp_autograd_stacks *stacks, const char *kind)
{
	for (uint32_t i = 0; i < stacks->kinds.count; i++)
		if (strcmp(stacks->kinds.rows[i].key, kind) == 0)
			return i;
	return GP_NONE;
}
