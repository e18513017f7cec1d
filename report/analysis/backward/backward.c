#include "report/analysis/backward/backward.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/backward/pass.h"
#include "report/base/spill_memory.h"
#include "report/symbols/symbols.h"

/*
 * Operators of several inputs, which may have several shapes or types: the engine then sums or
 * converts a gradient after the node.
 */
static const char *const fitting_kinds[] = {
	"add",     "sub",   "rsub",      "mul",        "div",       "pow",     "where",   "maximum",
	"minimum", "fmax",  "fmin",      "atan2",      "lerp",      "addcmul", "addcdiv", "hypot",
	"fmod",    "xlogy", "logaddexp", "addmm",      "addmv",     "addr",    "addbmm",  "baddbmm",
	"cat",     "stack", "mseloss",   "maskedfill", "remainder", "copysign"};

static void mark_forward(const struct gp_launch_runs *runs, struct gp_autograd_stacks *stacks,
			 struct gp_kind_traits *traits)
{
	for (uint32_t i = 0; i < runs->launch_count; i++) {
		const struct gp_launch *launch = &runs->launches[i];
		const struct gp_autograd_stack *stack;

		if (launch->stack == GP_NONE)
			continue;
		stack = gp_autograd_stack_of(stacks, launch->stack);
		if (stack->role == GP_AUTOGRAD_FORWARD && stack->kind != GP_NONE)
			traits[stack->kind].is_forward = true;
	}
}

static struct gp_kind_traits *find_traits(const struct gp_launch_runs *runs,
					  struct gp_autograd_stacks *stacks)
{
	struct gp_kind_traits *traits = calloc((size_t)stacks->kinds.count + 1, sizeof(*traits));

	mark_forward(runs, stacks, traits);
	for (size_t i = 0; i < COUNT(fitting_kinds); i++) {
		uint32_t kind = gp_autograd_kind(stacks, fitting_kinds[i]);

		if (kind != GP_NONE)
			traits[kind].fits_shapes = true;
	}
	return traits;
}

/* What was recorded in a run like this one is better than an estimate. */
static void put_forward_stacks(struct gp_backward *backward, const struct gp_model *model,
			       const struct gp_launch_runs *runs, uint32_t run)
{
	const struct gp_launch_run *at = &runs->runs[run];

	for (uint32_t i = at->first; i < at->backward; i++) {
		const struct gp_launch *launch = &runs->launches[i];

		if (launch->is_known && model->calls[launch->call].is_estimated)
			backward->stacks[launch->call] = launch->stack;
	}
}

/* The lines of a run's backward pass are those of the run that it is like. */
static void put_lines(struct gp_backward *backward, const struct gp_launch_runs *runs, uint32_t run,
		      const struct gp_backward_line *lines)
{
	const struct gp_launch_run *at = &runs->runs[run];

	for (uint32_t i = at->backward; i < at->end; i++) {
		struct gp_backward_line line = lines[i - at->backward];
		uint32_t call = runs->launches[i].call;

		if (line.answer == GP_BACKWARD_CERTAIN && !runs->launches[i].is_known)
			line.answer = GP_BACKWARD_LIKELY;
		backward->stacks[call] = line.stack;
		backward->answers[call] = (uint8_t)line.answer;
	}
}

static void match_runs(struct gp_backward *backward, const struct gp_pass_context *context,
		       struct gp_backward_line **by_run)
{
	const struct gp_launch_runs *runs = context->runs;

	for (uint32_t i = runs->run_count; i-- > 0;) {
		const struct gp_launch_run *run = &runs->runs[i];

		if (run->like == i) {
			by_run[i] =
				calloc((size_t)(run->end - run->backward) + 1, sizeof(**by_run));
			gp_pass_lines(context, i, by_run[i]);
		}
		put_lines(backward, runs, i, by_run[run->like]);
		put_forward_stacks(backward, context->stacks->model, runs, i);
	}
}

static void find_lines(struct gp_backward *backward, struct gp_autograd_stacks *stacks,
		       const struct gp_launch_runs *runs)
{
	struct gp_kind_traits *traits = find_traits(runs, stacks);
	struct gp_backward_line **by_run = calloc((size_t)runs->run_count + 1, sizeof(*by_run));
	const struct gp_pass_context context = {stacks, runs, traits};
	size_t calls = stacks->model->call_count;

	backward->stacks = gp_spill_take((calls + 1) * sizeof(*backward->stacks));
	backward->answers = gp_spill_take_zeroed(calls + 1, sizeof(*backward->answers));
	for (size_t i = 0; i < calls; i++)
		backward->stacks[i] = GP_NONE;
	match_runs(backward, &context, by_run);
	for (uint32_t i = 0; i < runs->run_count; i++)
		free(by_run[i]);
	free(by_run);
	free(traits);
}

void gp_backward_of(struct gp_backward *backward, const struct gp_model *model)
{
	struct gp_autograd_stacks stacks;
	struct gp_launch_runs runs = {0};

	*backward = (struct gp_backward){0};
	if (!gp_autograd_is_used(model))
		return;
	gp_autograd_stacks_open(&stacks, model);
	gp_launch_runs_of(&runs, &stacks);
	if (runs.run_count > 0)
		find_lines(backward, &stacks, &runs);
	gp_launch_runs_free(&runs);
	gp_autograd_stacks_close(&stacks);
}

void gp_backward_free(struct gp_backward *backward)
{
	gp_spill_free(backward->stacks);
	gp_spill_free(backward->answers);
	*backward = (struct gp_backward){0};
}

enum gp_backward_answer gp_backward_answer_of(const struct gp_backward *backward,
					      const struct gp_model *model,
					      const struct gp_call *call, uint32_t *stack)
{
	bool is_matched = backward->answers && call;

	*stack = is_matched ? backward->stacks[call - model->calls] : GP_NONE;
	return is_matched ? (enum gp_backward_answer)backward->answers[call - model->calls]
			  : GP_BACKWARD_NOT;
}

const char *gp_backward_reason(enum gp_backward_answer answer)
{
	static const char *const reasons[GP_BACKWARD_ANSWERS] = {
		[GP_BACKWARD_NOT] = "",
		[GP_BACKWARD_CERTAIN] = "",
		[GP_BACKWARD_LIKELY] = "",
		[GP_BACKWARD_SEVERAL] = "one of several lines",
		[GP_BACKWARD_WITHOUT_OPERATOR] = "of views, which launch nothing forward",
		[GP_BACKWARD_COMMUNICATION] = "communication",
		[GP_BACKWARD_FUNCTION] = "compiled code, or a library's own function",
		[GP_BACKWARD_UNMATCHED] = "no line was found",
	};

	return reasons[answer];
}
