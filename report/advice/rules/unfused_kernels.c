#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/named_kernels.h"
#include "report/advice/rules/op_function.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_NS, 20000, NS, "a shorter kernel costs its launch: short-kernels")             \
	LIMIT(PAUSE_NS, 20000, NS, "after a longer one the GPU waited for the host in between")    \
	LIMIT(MOST_KERNELS, 32, COUNT, "kernels of a chain: a longer one counts as several")
GP_LIMITS(LIMITS);

/* What a kernel can be in a chain. */
enum role { OTHER, COMPUTES, COPIES };

static const struct gp_kind_role role_of_kind[] = {
	{"elementwise", COMPUTES}, {"reduction", COMPUTES}, {"copy", COPIES}, {NULL, OTHER}};

/* Kernels that consist of several operations, and parts of them: by name. */
static bool is_fused(const char *name)
{
	static const char *const patterns[] = {"*multi_tensor_apply*",
					       "*triton_*",
					       "*fusion*",
					       "wrapped_*",
					       "__myl_*",
					       "*nchw*",
					       NULL};

	return gp_named_kernels_match(name, patterns);
}

/* The state of a look. */
struct look {
	uint8_t *roles; /* by name */
	struct gp_op_functions functions;
	struct gp_launch_places places; /* time in chains by site, of all functions */
	uint64_t all_ns;                /* of all operations of the process */
};

/* Kernels of one function in a row, in a stream. */
struct chain {
	uint64_t function; /* GP_NO_FUNCTION: there is none */
	bool is_backward;
	uint32_t kernels[MOST_KERNELS]; /* their operations */
	uint32_t count;
	bool computes;   /* not only copies */
	uint64_t end_ns; /* of the last one */
	uint64_t sum_ns, longest_ns;
};

struct own {
	uint64_t all_ns;        /* of all operations of the process */
	uint32_t kernels;       /* of the chain that has most */
	uint64_t most_ns;       /* of the chain that takes longest ... */
	uint64_t kernel, other; /* ... and the names of its two longest kernels */
};

static enum role role_of(const struct gp_advisor *advisor, const struct look *l, uint32_t op)
{
	const struct gp_model *model = advisor->model;
	const struct gp_op *one = &model->ops[op];

	if (one->kind != GP_OP_KERNEL || one->untimed || one->name >= model->name_count ||
	    advisor->tuning->of[op] != GP_TUNER_NONE || gp_advisor_is_claimed(advisor, op))
		return OTHER;
	return (enum role)l->roles[one->name];
}

static void keep_names(struct gp_advisor *advisor, struct own *own, const struct chain *chain)
{
	const struct gp_op *ops = advisor->model->ops, *most = NULL, *next = NULL;

	for (uint32_t i = 0; i < chain->count; i++) {
		const struct gp_op *op = &ops[chain->kernels[i]];

		if (!most || gp_op_gpu_ns(op) > gp_op_gpu_ns(most)) {
			next = most;
			most = op;
		} else if (!next || gp_op_gpu_ns(op) > gp_op_gpu_ns(next)) {
			next = op;
		}
	}
	own->most_ns = chain->sum_ns;
	own->kernel = gp_advisor_text(advisor, gp_model_kernel_name(advisor->model, most));
	own->other = gp_advisor_text(advisor, gp_model_kernel_name(advisor->model, next));
}

static void add_chain(struct gp_advisor *advisor, struct look *l, const struct chain *chain)
{
	const struct gp_op *first = &advisor->model->ops[chain->kernels[0]];
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, chain->function, 0);
	struct own *own = found->own;

	found->is_doubtful = true; /* the data of the kernels is not known */
	gp_advisor_add(advisor, found, first->start_ns, chain->sum_ns,
		       chain->sum_ns - chain->longest_ns, NULL);
	gp_advisor_show_time(advisor, found, first->start_ns, chain->end_ns - first->start_ns);
	own->all_ns = l->all_ns;
	if (chain->count > own->kernels)
		own->kernels = chain->count;
	if (chain->sum_ns > own->most_ns)
		keep_names(advisor, own, chain);
	for (uint32_t i = 0; i < chain->count; i++)
		gp_launch_places_add(
			&l->places,
			gp_op_function_of(advisor, &l->functions, chain->kernels[i]).site,
			gp_op_gpu_ns(&advisor->model->ops[chain->kernels[i]]));
}

static void end_chain(struct gp_advisor *advisor, struct look *l, struct chain *chain)
{
	if (chain->count > 1 && chain->computes)
		add_chain(advisor, l, chain);
	*chain = (struct chain){.function = GP_NO_FUNCTION};
}

/* The next round of a loop over other data begins with a kernel that the chain has already. */
static bool has_name(const struct gp_model *model, const struct chain *chain, uint32_t name)
{
	for (uint32_t i = 0; i < chain->count; i++)
		if (model->ops[chain->kernels[i]].name == name)
			return true;
	return false;
}

static void extend(struct gp_advisor *advisor, struct look *l, struct chain *chain, uint32_t op)
{
	const struct gp_op *one = &advisor->model->ops[op];
	enum role role = role_of(advisor, l, op);
	struct gp_op_function at = {.text = GP_NO_FUNCTION};
	uint64_t ns = gp_op_gpu_ns(one);

	if (role != OTHER)
		at = gp_op_function_of(advisor, &l->functions, op);
	if (at.text == GP_NO_FUNCTION || at.text != chain->function ||
	    at.is_backward != chain->is_backward || one->start_ns > chain->end_ns + PAUSE_NS)
		end_chain(advisor, l, chain);
	if (at.text != GP_NO_FUNCTION && ns >= LEAST_NS &&
	    (chain->count == MOST_KERNELS || has_name(advisor->model, chain, one->name)))
		end_chain(advisor, l, chain);
	if (at.text == GP_NO_FUNCTION)
		return;
	chain->function = at.text;
	chain->is_backward = at.is_backward;
	chain->end_ns = one->end_ns;
	if (ns < LEAST_NS)
		return;
	chain->kernels[chain->count++] = op;
	chain->computes |= role == COMPUTES;
	chain->sum_ns += ns;
	if (ns > chain->longest_ns)
		chain->longest_ns = ns;
}

static void find_chains(struct gp_advisor *advisor, struct look *l)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->op_count; i++)
		l->all_ns += gp_op_gpu_ns(&model->ops[i]);
	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		struct chain chain = {.function = GP_NO_FUNCTION};

		end = gp_model_stream_end(model, first);
		for (uint32_t i = first; i < end; i++)
			extend(advisor, l, &chain, i);
		end_chain(advisor, l, &chain);
	}
}

static void put_places(struct gp_advisor *advisor, const struct look *l)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		gp_op_functions_place(advisor, &l->functions, &l->places, found);
}

static void find_roles(const struct gp_advisor *advisor, const struct look *l, const uint8_t *kinds)
{
	const struct gp_model *model = advisor->model;
	uint8_t roles[GP_KINDS_LIMIT];

	gp_kinds_roles(advisor->kinds, role_of_kind, roles);
	for (uint32_t i = 0; i < model->name_count; i++)
		l->roles[i] = is_fused(model->names[i]) ? OTHER : roles[kinds[i]];
}

static void look(struct gp_advisor *advisor)
{
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, advisor->model);
	struct look l = {.roles = calloc((size_t)advisor->model->name_count + 1, 1)};

	find_roles(advisor, &l, kinds);
	find_chains(advisor, &l);
	put_places(advisor, &l);
	free(kinds);
	free(l.roles);
	gp_op_functions_free(&l.functions);
	gp_launch_places_free(&l.places);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_document_add(values, "percent", GP_UNIT_PERCENT,
			gp_value_percent((double)found->time_ns, (double)own->all_ns));
	gp_document_add_number(values, "kernels", GP_UNIT_COUNT, own->kernels);
	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, own->kernel));
	gp_document_add_text(values, "other", gp_scope_kernel_of(&advisor->scope, own->other));
}

const struct gp_rule gp_rule_unfused_kernels = {
	.id = "unfused-kernels",
	.title = "elementwise and reduction kernels in a row write and read intermediate results",
	.found =
		"{count} times, up to {kernels} elementwise, copy and reduction kernels run in a row, {percent} % of the GPU time: the longest are {kernel} and {other}",
	.change =
		"if each uses the result of the one before, fuse them: [{?language=torch}torch.compile for this function, or one operator that does the same|{?language=cupy}cupy.fuse(), an ElementwiseKernel or a ReductionKernel; distances between two sets of points as a matrix product|one kernel that keeps intermediate results in registers]; at best the time of the longest kernel remains",
	.meaning =
		"Kernels that compute each element from a few others are limited by memory: each reads its input and writes its result. One fused kernel reads and writes once. gpuprof recognizes such kernels by their names. A chain is two or more of them in a row on a stream, all launched by one function of the program or by the backward pass for its lines. Kernels shorter than {LEAST_NS} do not count, and a pause of more than {PAUSE_NS} ends a chain. A kernel that occurs again begins a new chain, because it can belong to the next round of a loop over other data. Kernels of compilers (Triton, XLA) and optimizers over lists of tensors are fused already. The saving is an upper bound: the time of each chain without its longest kernel. gpuprof does not see which data a kernel reads, and fusing kernels that share no data saves little. Therefore the finding comes last.",
	.remedy =
		"PyTorch: torch.compile fuses elementwise operations and reductions; an optimizer has fused=True. CuPy: cupy.fuse() for elementwise operations, a ReductionKernel with its map expression for those before a reduction. Do not write a large temporary only to reduce it, such as the differences of all pairs: a squared distance is aa + bb - 2 ab, a matrix product and two sums.",
	.ignore = "The kernels work on different data, or a library makes them.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 1000000,
		      .count = 16,
		      .reason =
			      "A few more passes over memory cost less than a change of the code"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
