#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/named_kernels.h"
#include "report/advice/rules/op_function.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(SORT_PERCENT, 25, PERCENT, "of the function's GPU time: sorts are not its purpose")  \
	LIMIT(SAME_PERCENT, 90, PERCENT,                                                           \
	      "of the runs with the same kernels: the input may be the same")                      \
	LIMIT(PASSES, 2, COUNT, "runs in a step: a single one can have new input in each step")
GP_LIMITS(LIMITS);

/* What an operation can be to a function that prepares data. */
enum role { OTHER, SORTS, BESIDE, CHANGES };

static const struct gp_kind_role role_of_kind[] = {
	{"sort, scan", SORTS}, {"elementwise", BESIDE}, {"reduction", BESIDE}, {"copy", BESIDE},
	{"indexing", BESIDE},  {"sparse", BESIDE},      {"random", CHANGES},   {NULL, OTHER},
};

/* The largest of values that are new each time, as logits are. */
static bool is_selection(const char *name)
{
	static const char *const patterns[] = {"*topk*", "*top_k*", NULL};

	return gp_named_kernels_match(name, patterns);
}

/* The state of a look. */
struct look {
	uint8_t *roles; /* by name */
	struct gp_op_functions functions;
	struct gp_launch_places places; /* GPU time by site, of all functions that sort */
	uint64_t all_ns;                /* of all operations of the process */
};

/* One time through a function, in a stream: its operations in a row. */
struct pass {
	uint64_t function;   /* GP_NO_FUNCTION: there is none */
	uint32_t first, end; /* operations */
	uint32_t kernels;
	uint64_t sum_ns, sort_ns;
	uint64_t longest_ns;
	uint32_t longest; /* of the sorting ones: its name */
	uint64_t hash;    /* of the kernels and their grids, in order */
	bool changes;     /* its input is new */
};

struct own {
	uint64_t all_ns; /* of all operations of the process */
	uint64_t sum_ns, sort_ns;
	uint64_t hash, votes; /* most passes', and how many more of them there are than of others */
	uint32_t kernels;     /* of each of these */
	uint64_t in_loop;     /* passes in the loop's steps after the warm-up */
	uint64_t kernel;      /* the text of the longest */
	uint64_t longest_ns;
	bool changes;
};

static enum role role_of(const struct gp_advisor *advisor, const struct look *l, uint32_t op)
{
	const struct gp_model *model = advisor->model;
	const struct gp_op *one = &model->ops[op];

	if (advisor->tuning->of[op] != GP_TUNER_NONE || gp_advisor_is_claimed(advisor, op))
		return OTHER;
	if (one->kind == GP_OP_COPY && one->copy_kind == GP_COPY_HTOD &&
	    one->bytes > GP_RESULT_BYTES)
		return CHANGES;
	if (one->kind == GP_OP_COPY || one->kind == GP_OP_SET)
		return BESIDE;
	return one->kind == GP_OP_KERNEL && one->name < model->name_count
		       ? (enum role)l->roles[one->name]
		       : OTHER;
}

static void add_pass(struct gp_advisor *advisor, struct look *l, const struct pass *pass)
{
	const struct gp_model *model = advisor->model;
	const struct gp_steps *loop = advisor->loops[advisor->process];
	uint64_t start_ns = model->ops[pass->first].start_ns;
	uint64_t end_ns = model->ops[pass->end - 1].end_ns;
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, pass->function, 0);
	struct own *own = found->own;

	gp_advisor_add(advisor, found, start_ns, pass->sum_ns, 0, NULL);
	gp_advisor_stretch(advisor, found, start_ns, end_ns, 1);
	gp_advisor_show_time(advisor, found, start_ns, end_ns - start_ns);
	gp_vote(&own->hash, &own->votes, pass->hash, 1);
	own->all_ns = l->all_ns;
	own->sort_ns += pass->sort_ns;
	own->in_loop += loop && loop->recurs[gp_steps_part_at(loop, start_ns)];
	own->changes |= pass->changes;
	if (pass->hash == own->hash)
		own->kernels = pass->kernels;
	if (pass->longest_ns > own->longest_ns) {
		own->longest_ns = pass->longest_ns;
		own->kernel = gp_advisor_text(advisor, model->names[pass->longest]);
	}
	for (uint32_t i = pass->first; i < pass->end; i++)
		gp_launch_places_add(&l->places, gp_op_function_of(advisor, &l->functions, i).site,
				     gp_op_gpu_ns(&model->ops[i]));
}

static void end_pass(struct gp_advisor *advisor, struct look *l, struct pass *pass)
{
	if (pass->sort_ns > 0)
		add_pass(advisor, l, pass);
	*pass = (struct pass){.function = GP_NO_FUNCTION};
}

static void extend(struct gp_advisor *advisor, struct look *l, struct pass *pass, uint32_t op)
{
	const struct gp_op *one = &advisor->model->ops[op];
	enum role role = role_of(advisor, l, op);
	struct gp_op_function at = {.text = GP_NO_FUNCTION};
	uint64_t ns = gp_op_gpu_ns(one);

	if (role != OTHER)
		at = gp_op_function_of(advisor, &l->functions, op);
	if (at.is_backward)
		at.text = GP_NO_FUNCTION;
	if (at.text != pass->function)
		end_pass(advisor, l, pass);
	if (at.text == GP_NO_FUNCTION)
		return;
	if (pass->function == GP_NO_FUNCTION)
		*pass = (struct pass){.function = at.text, .first = op};
	pass->end = op + 1;
	pass->sum_ns += ns;
	pass->changes |= role == CHANGES;
	if (one->kind != GP_OP_KERNEL)
		return;
	pass->kernels++;
	pass->hash = (pass->hash * 1000003 + one->name) * 1000003 + one->shape;
	pass->sort_ns += role == SORTS ? ns : 0;
	if (role == SORTS && ns > pass->longest_ns) {
		pass->longest_ns = ns;
		pass->longest = one->name;
	}
}

static void find_passes(struct gp_advisor *advisor, struct look *l)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->op_count; i++)
		l->all_ns += gp_op_gpu_ns(&model->ops[i]);
	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		struct pass pass = {.function = GP_NO_FUNCTION};

		end = gp_model_stream_end(model, first);
		for (uint32_t i = first; i < end; i++)
			extend(advisor, l, &pass, i);
		end_pass(advisor, l, &pass);
	}
	gp_advisor_save_once(advisor);
}

/* Whether all that is recorded goes with equal input. */
static bool may_be_same(const struct gp_case *found)
{
	const struct own *own = found->own;

	return !own->changes && own->sort_ns * 100 >= found->time_ns * SORT_PERCENT &&
	       (found->count + own->votes) / 2 * 100 >= found->count * SAME_PERCENT;
}

/* How often in each step of the loop; 0: there is none. */
static uint64_t passes(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_steps *loop = advisor->loops[found->process];
	uint32_t steps = loop ? gp_steps_recurring(loop) : 0;

	return steps > 0 ? (((const struct own *)found->own)->in_loop + steps / 2) / steps : 0;
}

/* Other rules that save GPU time leave it out. */
static void claim(struct gp_advisor *advisor, struct look *l, const struct gp_case *found)
{
	for (uint32_t i = 0; i < advisor->model->op_count; i++) {
		struct gp_op_function at = {.text = GP_NO_FUNCTION};

		if (role_of(advisor, l, i) != OTHER)
			at = gp_op_function_of(advisor, &l->functions, i);
		if (at.text == found->detail && !at.is_backward)
			gp_advisor_claim(advisor, i);
	}
}

static void judge(struct gp_advisor *advisor, struct look *l)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;) {
		if (!may_be_same(found)) {
			found->count = 0;
			continue;
		}
		found->is_doubtful = passes(advisor, found) < PASSES;
		gp_op_functions_place(advisor, &l->functions, &l->places, found);
		if (gp_advisor_is_worth(advisor, found))
			claim(advisor, l, found);
	}
}

/* Returns whether any kernel sorts. */
static bool find_roles(const struct gp_advisor *advisor, const struct look *l, const uint8_t *kinds)
{
	const struct gp_model *model = advisor->model;
	uint8_t roles[GP_KINDS_LIMIT];
	bool has_sorts = false;

	gp_kinds_roles(advisor->kinds, role_of_kind, roles);
	for (uint32_t i = 0; i < model->name_count; i++) {
		l->roles[i] = is_selection(model->names[i]) ? CHANGES : roles[kinds[i]];
		has_sorts |= l->roles[i] == SORTS;
	}
	return has_sorts;
}

static void look(struct gp_advisor *advisor)
{
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, advisor->model);
	struct look l = {.roles = calloc((size_t)advisor->model->name_count + 1, 1)};

	if (find_roles(advisor, &l, kinds)) {
		find_passes(advisor, &l);
		judge(advisor, &l);
	}
	free(kinds);
	free(l.roles);
	gp_op_functions_free(&l.functions);
	gp_launch_places_free(&l.places);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;
	uint64_t in_step = passes(advisor, found);

	gp_document_add(values, "percent", GP_UNIT_PERCENT,
			gp_value_percent((double)found->time_ns, (double)own->all_ns));
	gp_document_add_number(values, "passes", GP_UNIT_COUNT, in_step < PASSES ? 0 : in_step);
	gp_document_add_number(values, "kernels", GP_UNIT_COUNT, own->kernels);
	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, own->kernel));
}

const struct gp_rule gp_rule_repeated_sort = {
	.id = "repeated-sort",
	.title = "the same sort of indices or coalescing of a sparse matrix may be repeated",
	.found =
		"{count} times[, {passes} in each step], a function runs the same {kernels} kernels to sort, scan or coalesce data, {percent} % of the GPU time; the longest is {kernel}",
	.change =
		"if its input is the same each time (a graph, a mesh, a mask), compute the result once, before the loop, and keep it",
	.meaning =
		"A function of the program sorts data, finds unique values, coalesces a sparse matrix or builds a histogram. At least {SAME_PERCENT} % of its runs have the same kernels with the same grids, so its input may be the same each time. gpuprof does not see the data. If the function runs fewer than {PASSES} times in a step, the finding is only a question and comes last. At least {SORT_PERCENT} % of the function's GPU time is in kernels that sort, scan or coalesce. Functions that draw random numbers, select the largest values (top-k) or copy more than {GP_RESULT_BYTES} to the device have new input: they are not reported. Nor is the backward pass. The saving is an upper bound: the time from the function's first operation to its last, including gaps.",
	.remedy =
		"Compute an index, a permutation, a normalized adjacency matrix or a sparse layout once and keep it (PyTorch: register_buffer()), or use the library's own cache (PyTorch Geometric: GCNConv(cached=True)).",
	.ignore = "The input changes: particles that move, batches of other graphs.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 1000000,
		      .count = 16,
		      .reason = "Algorithms that sort new data usually take less"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
