#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

/*
 * CUPTI gives operations inside a conditional node (if, while, switch) the graph's number but no
 * launch: the correlation id is 0 (docs/design/cupti-notes.md, 8). Launches of one graph do not
 * overlap. So the operation belongs to the launch of which something began last; or to the next
 * launch, if launches of the graph begin with such a node. If a graph has nothing outside of such
 * nodes, it belongs to the latest graph launch for which no operation has the number, if its thread
 * had waited for the one before; else it stays without a call, and is counted.
 */

/* An operation of a graph that has such nodes, or a launch for which none has the number. */
struct step {
	uint64_t node_id; /* of operations inside such nodes, else 0 */
	uint64_t start_ns;
	uint32_t graph_id;
	uint32_t index; /* inside a node: the operation, else the call */
};

struct steps {
	struct step *all;
	uint32_t count, capacity;
};

static int order(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int compare_steps(const void *a, const void *b, const void *context)
{
	const struct step *left = a, *right = b;

	(void)context;
	if (left->graph_id != right->graph_id)
		return order(left->graph_id, right->graph_id);
	if (left->node_id != right->node_id)
		return order(left->node_id, right->node_id);
	return order(left->start_ns, right->start_ns);
}

static int add_step(struct steps *steps, const struct step *step)
{
	if (gp_array_grow_spill(&steps->all, &steps->capacity, steps->count, sizeof(*step)) != 0)
		return -ENOMEM;
	steps->all[steps->count++] = *step;
	return 0;
}

static int sort_steps(struct steps *steps)
{
	return gp_array_sort(steps->all, steps->count, sizeof(*steps->all), compare_steps, NULL);
}

static bool is_inside(const struct gp_model *m, const struct gp_op *op)
{
	return op->correlation_id == 0 && op->graph_id != 0 && !op->untimed &&
	       gp_model_detail(m, op)->graph_node_id != 0;
}

static int gather_insides(const struct gp_model *m, struct steps *insides)
{
	int result = 0;

	for (uint32_t i = 0; i < m->op_count && result == 0; i++) {
		const struct gp_op *op = &m->ops[i];

		if (is_inside(m, op))
			result = add_step(insides,
					  &(struct step){gp_model_detail(m, op)->graph_node_id,
							 op->start_ns, op->graph_id, i});
	}
	return result == 0 ? sort_steps(insides) : result;
}

static bool is_before(const void *element, const void *key)
{
	return compare_steps(element, key, NULL) < 0;
}

/* The first step of a graph, or of a later one. */
static uint32_t first_of(const struct steps *steps, uint32_t graph_id)
{
	const struct step wanted = {.graph_id = graph_id};

	return gp_array_lower_bound(steps->all, steps->count, sizeof(wanted), is_before, &wanted);
}

static bool has_graph(const struct steps *steps, uint32_t graph_id)
{
	uint32_t at = first_of(steps, graph_id);

	return at < steps->count && steps->all[at].graph_id == graph_id;
}

/* Operations with a launch's number, of graphs that have such nodes. */
static int gather_numbered(const struct gp_model *m, const struct steps *insides,
			   struct steps *numbered)
{
	int result = 0;

	for (uint32_t i = 0; i < m->op_count && result == 0; i++) {
		const struct gp_op *op = &m->ops[i];

		if (op->graph_id != 0 && op->call != GP_NONE && !op->untimed &&
		    has_graph(insides, op->graph_id))
			result = add_step(numbered,
					  &(struct step){0, op->start_ns, op->graph_id, op->call});
	}
	return result == 0 ? sort_steps(numbered) : result;
}

static bool waits_between(const struct gp_model *m, uint32_t earlier, uint32_t later)
{
	if (m->calls[earlier].thread_id != m->calls[later].thread_id)
		return false;
	for (uint32_t i = earlier + 1; i < later; i++)
		if (gp_model_api(m, m->calls[i].api).class == GP_API_SYNC)
			return true;
	return false;
}

/* Operations after those may belong to an earlier launch: they stay without one. */
static void leave_out_unsure(const struct gp_model *m, struct steps *silent)
{
	for (uint32_t i = silent->count; i-- > 1;)
		if (!waits_between(m, silent->all[i - 1].index, silent->all[i].index))
			silent->all[i].index = GP_NONE;
}

/* Of no graph: which one they launched is not known. */
static int gather_silent(const struct gp_model *m, struct steps *silent)
{
	uint8_t *has_op = gp_spill_take(m->call_count / 8 + 1);
	int result = has_op ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i <= m->call_count / 8; i++)
		has_op[i] = 0;
	for (uint32_t i = 0; result == 0 && i < m->op_count; i++)
		if (m->ops[i].call != GP_NONE)
			has_op[m->ops[i].call / 8] |= (uint8_t)(1u << m->ops[i].call % 8);
	for (uint32_t i = 0; result == 0 && i < m->call_count; i++)
		if (gp_model_api(m, m->calls[i].api).class == GP_API_GRAPH_LAUNCH &&
		    m->calls[i].status == 0 && !(has_op[i / 8] >> i % 8 & 1))
			result = add_step(silent, &(struct step){0, m->calls[i].start_ns, 0, i});
	gp_spill_free(has_op);
	if (result == 0)
		result = sort_steps(silent);
	if (result == 0)
		leave_out_unsure(m, silent);
	return result;
}

/* How many steps of a graph began until then, and which are the graph's. */
struct place {
	uint32_t first, end, begun;
};

static struct place place_of(const struct steps *steps, uint32_t graph_id, uint64_t time_ns)
{
	const struct step until = {.graph_id = graph_id, .start_ns = time_ns + 1};
	struct place place = {first_of(steps, graph_id), first_of(steps, graph_id + 1), 0};

	place.begun =
		gp_array_lower_bound(steps->all, steps->count, sizeof(until), is_before, &until);
	return place;
}

/* `leads`: the first time, the node came before all that has a number. */
static uint32_t launch_of(const struct gp_model *m, const struct steps *numbered,
			  const struct step *inside, bool leads)
{
	struct place place = place_of(numbered, inside->graph_id, inside->start_ns);
	uint32_t last, next;

	if (place.begun == place.first)
		return place.first < place.end ? numbered->all[place.first].index : GP_NONE;
	last = numbered->all[place.begun - 1].index;
	next = place.begun < place.end ? numbered->all[place.begun].index : last;
	return leads && m->calls[next].start_ns <= inside->start_ns ? next : last;
}

static bool is_same_node(const struct step *a, const struct step *b)
{
	return a->graph_id == b->graph_id && a->node_id == b->node_id;
}

static void join(struct gp_model *m, uint32_t op, uint32_t call)
{
	if (call == GP_NONE)
		return;
	m->ops[op].call = call;
	m->ops[op].correlation_id = m->calls[call].correlation_id;
}

static void join_all(struct gp_model *m, const struct steps *insides, const struct steps *numbered,
		     const struct steps *silent)
{
	bool leads = false;

	for (uint32_t i = 0; i < insides->count; i++) {
		const struct step *inside = &insides->all[i];
		struct place any = place_of(silent, 0, inside->start_ns);

		if (i == 0 || !is_same_node(inside, inside - 1))
			leads = place_of(numbered, inside->graph_id, inside->start_ns).begun ==
				first_of(numbered, inside->graph_id);
		if (has_graph(numbered, inside->graph_id))
			join(m, inside->index, launch_of(m, numbered, inside, leads));
		else if (silent->all && any.begun > 0)
			join(m, inside->index, silent->all[any.begun - 1].index);
	}
}

int gp_join_conditionals(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	struct steps insides = {0}, numbered = {0}, silent = {0};
	int result = gather_insides(m, &insides);

	if (result == 0 && insides.count > 0)
		result = gather_numbered(m, &insides, &numbered);
	if (result == 0 && insides.count > 0)
		result = gather_silent(m, &silent);
	if (result == 0)
		join_all(m, &insides, &numbered, &silent);
	gp_spill_free(insides.all);
	gp_spill_free(numbered.all);
	gp_spill_free(silent.all);
	return result;
}
