#include "report/advice/rules/rules.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "report/advice/rules/advisor.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(WINDOW, 16, COUNT, "copies whose mean is compared with that of the next ones")       \
	LIMIT(LEAST_WINDOWS, 8, COUNT, "this many means show a trend")                             \
	LIMIT(RISING_PERCENT, 80, PERCENT, "of the changes of the mean: the rest are new starts")  \
	LIMIT(GROWTH_PERCENT, 150, PERCENT, "of the least mean: less is noise")
GP_LIMITS(LIMITS);

/* The copies of a site, in their order.  Sizes are bytes, or of kernels their time. */
struct own {
	uint64_t window_count, window_size, window_ns; /* of the present window */
	uint64_t last_size; /* of the window before; 0: it is the first */
	uint64_t least_size, most_size;
	uint64_t least_mean_ns, most_mean_ns; /* of the windows with these sizes */
	uint64_t least_ns;                    /* of a single copy */
	uint64_t ups, downs;
	bool grows;
};

static void end_window(struct own *own)
{
	uint64_t mean_ns = own->window_ns / WINDOW;

	if (own->last_size > 0) {
		own->ups += own->window_size > own->last_size;
		own->downs += own->window_size < own->last_size;
	}
	if (own->last_size == 0 || own->window_size < own->least_size) {
		own->least_size = own->window_size;
		own->least_mean_ns = mean_ns;
	}
	if (own->window_size > own->most_size) {
		own->most_size = own->window_size;
		own->most_mean_ns = mean_ns;
	}
	own->last_size = own->window_size;
	own->window_count = own->window_size = own->window_ns = 0;
}

static void take_size(struct own *own, const struct gp_op *op, bool is_first)
{
	uint64_t ns = op->end_ns - op->start_ns;

	own->window_size += op->kind == GP_OP_COPY ? op->bytes : ns;
	own->window_ns += ns;
	if (is_first || ns < own->least_ns)
		own->least_ns = ns;
	if (++own->window_count == WINDOW)
		end_window(own);
}

/* By number of a name; NULL: no memory. */
static bool *find_names(const struct gp_model *model)
{
	bool *is_such = calloc((size_t)model->name_count + 1, sizeof(*is_such));

	for (uint32_t i = 0; i < model->name_count; i++)
		is_such[i] = fnmatch("*CatArrayBatchedCopy*", model->names[i], 0) == 0;
	return is_such;
}

static bool is_copy(const struct gp_advisor *advisor, uint32_t index, const bool *is_such)
{
	const struct gp_op *op = &advisor->model->ops[index];

	if (op->untimed || advisor->tuning->of[index] != GP_TUNER_NONE)
		return false;
	if (op->kind == GP_OP_COPY)
		return op->copy_kind == GP_COPY_DTOD;
	return op->kind == GP_OP_KERNEL && op->name < advisor->model->name_count &&
	       is_such[op->name];
}

/* The case of a copy, or NULL: its line is not known. */
static struct gp_case *case_of(struct gp_advisor *advisor, const struct gp_op *op)
{
	const struct gp_call *call = gp_model_op_cause(advisor->model, op);
	uint32_t site = call ? gp_advisor_site(advisor, call) : GP_NO_SITE;

	return gp_advisor_knows(advisor, site) ? gp_advisor_case(advisor, site, op->kind, 0) : NULL;
}

static void take(struct gp_advisor *advisor, const struct gp_op *op)
{
	struct gp_case *found = case_of(advisor, op);
	uint64_t ns = op->end_ns - op->start_ns;

	if (!found)
		return;
	gp_advisor_add(advisor, found, op->start_ns, ns, 0, NULL);
	gp_advisor_show_time(advisor, found, op->start_ns, ns);
	take_size(found->own, op, found->count == 1);
}

static void judge(struct gp_case *found)
{
	struct own *own = found->own;

	own->grows = own->ups + own->downs + 1 >= LEAST_WINDOWS &&
		     own->ups * 100 >= (own->ups + own->downs) * RISING_PERCENT &&
		     own->most_size * 100 >= own->least_size * GROWTH_PERCENT;
}

/* In a buffer of the final size, each copy takes as long as the shortest one. */
static void save(struct gp_advisor *advisor, const struct gp_op *op)
{
	struct gp_case *found = case_of(advisor, op);
	const struct own *own = found ? found->own : NULL;

	if (own && own->grows)
		gp_advisor_save(advisor, found, op->start_ns,
				op->end_ns - op->start_ns - own->least_ns);
}

static void each_copy(struct gp_advisor *advisor, const bool *is_such,
		      void (*visit)(struct gp_advisor *advisor, const struct gp_op *op))
{
	for (uint32_t i = 0; i < advisor->model->op_count; i++)
		if (is_copy(advisor, i, is_such))
			visit(advisor, &advisor->model->ops[i]);
}

static void look(struct gp_advisor *advisor)
{
	bool *is_such = find_names(advisor->model);
	struct gp_case *found;

	each_copy(advisor, is_such, take);
	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		judge(found);
	each_copy(advisor, is_such, save);
	free(is_such);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	gp_document_add_number(values, "least_ns", GP_UNIT_NS, own->least_mean_ns);
	gp_document_add_number(values, "most_ns", GP_UNIT_NS, own->most_mean_ns);
}

const struct gp_rule gp_rule_growing_copies = {
	.id = "growing-copies",
	.title = "a copy on the device grows from step to step",
	.found =
		"{count} copies on the device grow from {least_ns} to {most_ns} and took {time_ns}: each one copies all earlier data again",
	.change =
		"[{?language=torch}allocate the tensor once with its final size and write each part into it, instead of torch.cat in each step; Transformers: cache_implementation=\"static\"|allocate the buffer once with its final size, and append to it]",
	.meaning =
		"A line copies memory of the device to the device, or calls torch.cat (kernels CatArrayBatchedCopy), and the copies grow. gpuprof takes the mean of each {WINDOW} successive copies: at least {RISING_PERCENT} % of its changes are increases, and the largest mean is {GROWTH_PERCENT} % of the least one or more. Examples are key-value caches that a decoder extends with each token, and results that are gathered in a list of tensors and joined again and again. Appending to a buffer of the final size copies the new part only. The saving is the time of the copies beyond that of the shortest one.",
	.remedy =
		"Allocate the buffer once for the longest sequence and copy each part to its place. Transformers' generate(): cache_implementation=\"static\". If the final size is not known, double the buffer when it is full.",
	.ignore = "The final size varies so much that there is no memory for the largest one.",
	.threshold = {.saves_percent = 2,
		      .saves_ns = 1000000,
		      .count = 128,
		      .reason = "Fewer copies show no trend"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
