#include "report/advice/rules/rules.h"

#include <string.h>

#include "report/analysis/idle/activity.h"
#include "report/analysis/device/failures.h"
#include "report/model/losses.h"
#include "report/trace/cuda_names.h"
#include "report/model/recorded.h"
#include "report/advice/rules/advisor.h"

#define INVALID_VALUE          1
#define DRIVER_SHUTTING_DOWN   4
#define INVALID_CONFIGURATION  9 /* the runtime's; the driver's is 1 */
#define INVALID_DEVICE_POINTER 17
#define INVALID_DIRECTION      21
#define OUT_OF_RESOURCES       701
#define ASSERTION              710
#define LASTING                GP_NO_SITE /* as detail: the error of all functions */

#define DRIVER_BIT ((uint64_t)1 << 16)

/*
 * detail: the text of the function, or LASTING; other_detail: the error; count: in the thread with
 * most failures.
 */
struct own {
	uint64_t in_thread; /* failed calls of the last thread ... */
	uint64_t in_all;    /* ... and of all */
	uint32_t thread_id;
	struct gp_asked asked;
	struct gp_oom_snapshot held; /* at the first failure */
	uint64_t held_at_ns;

	/* a lasting error: the first call that returned it */
	uint64_t first_ns;
	uint64_t error; /* with DRIVER_BIT */
	uint64_t function;
	uint32_t context_id;
	/* launches in its context that may have caused it: without a recorded end */
	uint32_t launches, graphs;
	uint32_t launch;      /* the correlation id of the first one ... */
	uint64_t launch_ns;   /* ... and its time before the error */
	uint32_t launch_site; /* of all of them; GP_NO_SITE = several places */
	uint64_t kernel;      /* the text of its name, if has_kernel */
	bool has_kernel;
};

static uint64_t error_of(const struct gp_call *call)
{
	return call->status | (GP_API_IS_DRIVER(call->api) ? DRIVER_BIT : 0);
}

static struct gp_case *lasting_case(struct gp_advisor *advisor, const struct gp_call *call)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, LASTING, call->status);
	struct own *own = found->own;

	if (found->count == 0 || call->start_ns < own->first_ns) {
		own->first_ns = call->start_ns;
		own->context_id = call->context_id;
		own->error = error_of(call);
		own->function =
			gp_advisor_text(advisor, gp_model_api(advisor->model, call->api).name);
		found->is_grave = true;
		found->site = gp_advisor_site(advisor, call);
	}
	return found;
}

static void count_in_thread(struct own *own, const struct gp_call *call)
{
	if (own->thread_id != call->thread_id)
		own->in_thread = 0;
	own->thread_id = call->thread_id;
	own->in_thread++;
	own->in_all++;
}

static bool is_of_full_cache(const struct gp_advisor *advisor, uint32_t site, uint8_t class,
			     uint16_t status)
{
	return class == GP_API_ALLOC && status == GP_OUT_OF_MEMORY &&
	       *gp_call_sites_at(advisor->sites, site).owner;
}

/* NULL: the call does not count. */
static struct gp_case *case_of(struct gp_advisor *advisor, const struct gp_call *call)
{
	struct gp_api api = gp_model_api(advisor->model, call->api);
	uint32_t site;

	if (gp_failure_is_lasting(call->status))
		return lasting_case(advisor, call);
	if (!gp_failure_is_of_work(api.class) || call->status == DRIVER_SHUTTING_DOWN)
		return NULL;
	site = gp_advisor_site(advisor, call);
	if (is_of_full_cache(advisor, site, api.class, call->status))
		return NULL;
	return gp_advisor_case(advisor, site, gp_advisor_text(advisor, api.name), error_of(call));
}

/* Whether it was refused for its arguments or shape: such a call is no test for support. */
static bool is_refused(const struct gp_model *model, const struct gp_call *call)
{
	switch (gp_model_api_class(model, call->api)) {
	case GP_API_LAUNCH:
		return call->status == INVALID_VALUE || call->status == INVALID_CONFIGURATION ||
		       call->status == OUT_OF_RESOURCES;
	case GP_API_COPY:
	case GP_API_MEMSET:
		return call->status == INVALID_VALUE || call->status == INVALID_DEVICE_POINTER ||
		       call->status == INVALID_DIRECTION;
	default:
		return false;
	}
}

/* A program that launches after an error continues. */
static uint64_t last_launch_ns(const struct gp_model *model)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		if (model->calls[i].status == 0 && model->calls[i].start_ns > last_ns &&
		    gp_model_api_class(model, model->calls[i].api) == GP_API_LAUNCH)
			last_ns = model->calls[i].start_ns;
	return last_ns;
}

/* At the first failure in time: the calls are ordered by thread. */
static void note_held(struct gp_advisor *advisor, struct own *own, const struct gp_call *call)
{
	if (call->status != GP_OUT_OF_MEMORY ||
	    (own->in_all > 0 && call->start_ns >= own->held_at_ns))
		return;
	own->held_at_ns = call->start_ns;
	gp_oom_snapshot_at(&own->held, advisor->model, call, advisor->sites);
}

static void take(struct gp_advisor *advisor, const struct gp_call *call, uint64_t launches_until_ns)
{
	struct gp_case *found = case_of(advisor, call);
	struct own *own;
	uint64_t count;

	if (!found)
		return;
	found->is_grave |= call->start_ns < launches_until_ns && is_refused(advisor->model, call);
	own = found->own;
	note_held(advisor, own, call);
	gp_asked_add(&own->asked, advisor->model, call);
	count = found->count;
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, 0, NULL);
	count_in_thread(own, call);
	found->count = count > own->in_thread ? count : own->in_thread;
	gp_advisor_show(advisor, found, call);
}

/* Whether a launch without a kernel record means that the kernel did not end. */
static bool tells_of_all_kernels(const struct gp_model *model)
{
	const struct gp_losses *losses = &model->losses;

	return !model->recorder && losses->launches_left_out == 0 &&
	       losses->launches_outside == 0 && losses->launches_unnumbered == 0 &&
	       !gp_loss_is_counted(model, GP_LOSS_LOSS) && gp_recorded_kind(model, "gpu");
}

/* 0 = the context is unknown. */
static bool is_of_context(const struct gp_call *call, uint32_t context_id)
{
	return call->context_id == context_id || call->context_id == 0 || context_id == 0;
}

/* The start of the last successful wait for the whole context: earlier launches have ended. */
static uint64_t last_wait_ns(const struct gp_model *model, const struct own *own)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];
		const char *name;

		if (call->status != 0 || call->start_ns <= last_ns ||
		    gp_call_end_ns(call) > own->first_ns || call->context_id == 0 ||
		    call->context_id != own->context_id ||
		    gp_model_api_class(model, call->api) != GP_API_SYNC)
			continue;
		name = gp_model_api(model, call->api).name;
		if (strncmp(name, "cudaDeviceSync", 14) == 0 || strncmp(name, "cuCtxSync", 9) == 0)
			last_ns = call->start_ns;
	}
	return last_ns;
}

/* Whether an operation of a graph is the last one of its stream: later ones may be missing. */
static bool may_go_on(const struct gp_model *model, const struct gp_call *call)
{
	for (uint32_t i = call->first_op; i != GP_NONE; i = model->ops[i].next_op)
		if (gp_model_stream_end(model, i) == i + 1)
			return true;
	return false;
}

/* Whether the launched work has no recorded end. */
static bool is_open(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	if (class == GP_API_GRAPH_LAUNCH)
		return call->first_op == GP_NONE || may_go_on(model, call);
	return class == GP_API_LAUNCH && call->first_op == GP_NONE;
}

static void note_launch(struct gp_advisor *advisor, struct own *own, const struct gp_call *call)
{
	/* a single launch: an estimate would send the user to a wrong line */
	uint32_t site = call->is_estimated ? GP_NO_SITE : gp_advisor_site(advisor, call);

	if (own->launches++ == 0)
		own->launch_site = site;
	else if (own->launch_site != site)
		own->launch_site = GP_NO_SITE;
	own->graphs += gp_advisor_class(advisor, call) == GP_API_GRAPH_LAUNCH;
	if (own->first_ns - call->start_ns > own->launch_ns) {
		own->launch_ns = own->first_ns - call->start_ns;
		own->launch = call->correlation_id;
	}
}

/* Whether the launched work may have caused the error. */
static bool may_be_cause(const struct own *own, const struct gp_call *call, uint64_t from_ns)
{
	return !call->captured && call->status == 0 && call->start_ns >= from_ns &&
	       call->start_ns < own->first_ns && is_of_context(call, own->context_id);
}

/* The kernel of the only record without times, which never ended; NULL: none, or several. */
static const struct gp_op *find_untimed(const struct gp_model *model)
{
	const struct gp_op *found = NULL;

	for (uint32_t i = 0; i < model->op_count; i++) {
		if (!model->ops[i].untimed || gp_model_stated(model, &model->ops[i]))
			continue;
		if (found)
			return NULL;
		found = &model->ops[i];
	}
	return found && found->kind == GP_OP_KERNEL && found->call != GP_NONE ? found : NULL;
}

static bool find_kernel(struct gp_advisor *advisor, struct own *own)
{
	const struct gp_model *model = advisor->model;
	const struct gp_op *op = find_untimed(model);

	if (!op || !may_be_cause(own, &model->calls[op->call], last_wait_ns(model, own)))
		return false;
	note_launch(advisor, own, &model->calls[op->call]);
	own->kernel = gp_advisor_text(advisor, gp_model_kernel_name(model, op));
	own->has_kernel = true;
	return true;
}

/* The model names the kernel of the only launch, if it searched for its record. */
static void name_launch(struct gp_advisor *advisor, struct own *own)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->in_flight_count && own->launches == 1; i++) {
		const struct gp_in_flight *one = &model->in_flight[i];

		if (model->calls[one->call].correlation_id != own->launch || own->graphs > 0)
			continue;
		own->kernel = gp_advisor_text(advisor, model->names[one->name]);
		own->has_kernel = true;
	}
}

static void find_launches(struct gp_advisor *advisor, struct own *own)
{
	const struct gp_model *model = advisor->model;
	uint64_t from_ns = last_wait_ns(model, own);

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (may_be_cause(own, call, from_ns) && is_open(model, call))
			note_launch(advisor, own, call);
	}
	name_launch(advisor, own);
}

static void find_causes(struct gp_advisor *advisor)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		if (found->detail == LASTING && tells_of_all_kernels(advisor->model) &&
		    !find_kernel(advisor, found->own))
			find_launches(advisor, found->own);
}

uint64_t gp_failed_calls_count(const struct gp_advisor *advisor)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < advisor->case_count; i++)
		if (gp_rules[advisor->cases[i].rule] == &gp_rule_failed_calls)
			count += ((const struct own *)advisor->cases[i].own)->in_all;
	return count;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint64_t launches_until_ns = last_launch_ns(model);

	for (uint32_t i = 0; i < model->call_count; i++)
		if (gp_activity_is_failure(model, &model->calls[i]))
			take(advisor, &model->calls[i], launches_until_ns);
	find_causes(advisor);
}

static void print_asked(FILE *out, const void *asked)
{
	gp_asked_tell(out, asked);
}

struct held {
	const struct gp_oom_snapshot *snapshot;
	const struct gp_call_sites *sites;
};

static void print_held(FILE *out, const void *context)
{
	const struct held *held = context;

	gp_oom_snapshot_tell(out, held->snapshot, held->sites);
}

static void add_launches(const struct gp_advisor *advisor, const struct own *own,
			 struct gp_document *values)
{
	if (own->launches == 0)
		return;
	gp_document_add_number(values, "launch_count", GP_UNIT_COUNT, own->launches);
	gp_document_add_number(values, "graph_count", GP_UNIT_COUNT, own->graphs);
	gp_advisor_add_place(advisor, values, "launch_place", own->launch_site);
	if (own->launches > 1)
		return;
	gp_document_add_number(values, "launch_ns", GP_UNIT_NS, own->launch_ns);
	gp_document_add_number(values, "launch", GP_UNIT_NUMBER, own->launch);
	if (own->has_kernel)
		gp_document_add_text(values, "kernel",
				     gp_scope_kernel_of(&advisor->scope, own->kernel));
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	/* <<<>>> is compiled to such a call, whose result the program does not see */
	static const char launch[] = "cudaLaunch";
	const struct own *own = found->own;
	bool is_lasting = found->detail == LASTING;
	uint64_t code = is_lasting ? own->error : found->other_detail;
	const char *function =
		gp_advisor_text_of(advisor, is_lasting ? own->function : found->detail);
	struct held held = {&own->held, advisor->sites};
	char error[GP_FAILURE_ERROR_BYTES];

	gp_failure_error(error, (uint16_t)code, (code & DRIVER_BIT) != 0);
	gp_document_add_text(values, "error", error);
	gp_document_add_text(values, "function", function);
	gp_document_add_flag(values, "is_lasting", is_lasting);
	if (own->in_all > (is_lasting ? 1 : found->count))
		gp_document_add_number(values, "all_count", GP_UNIT_COUNT, own->in_all);
	if (is_lasting) {
		gp_document_add_flag(values, "is_assertion", found->other_detail == ASSERTION);
		add_launches(advisor, own, values);
		return;
	}
	gp_document_add_flag(values, "is_launch", strncmp(function, launch, strlen(launch)) == 0);
	gp_document_add_printed(values, "requested", print_asked, &own->asked);
	if (own->held.is_known)
		gp_document_add_printed(values, "held", print_held, &held);
}

const struct gp_rule gp_rule_failed_calls = {
	.id = "failed-calls",
	.title = "calls fail and the program continues, or an error ends all GPU work",
	.found =
		"[{?is_lasting}{error}: {function} returned it[ here first, and {all_count} calls in all failed with it]"
		"|{function} failed [{?count=1}once|{count} times][ in one thread, {all_count} in all]: {error}[{requested}], and the program continued[; {held}]]",
	.change =
		"[{?is_lasting}[{?is_assertion}an assert() of ]"
		"[{?launch_count=1}[{?graph_count}a kernel[ ({kernel})] of the graph|the kernel[ {kernel}]] launched {launch_ns} before[ at {launch_place}| (CorrID {launch} of `gpuprof trace api`; --stacks=all records its line)]"
		"|one of the {launch_count} [{!graph_count}kernels|kernels and graphs] without a recorded end[, all launched at {launch_place},]"
		"|an earlier kernel]"
		"[{?is_assertion} failed; its message is on stderr| caused it; compute-sanitizer [{?launch_count=1}shows its line|names it]]"
		". No call works after it: stop at the first error"
		"|check the result of the call[{?is_launch}, after <<<>>> with cudaGetLastError()]: its work was not done]",
	.meaning =
		"The same call failed with the same error repeatedly, in one thread. A kernel that was not launched computed nothing, so results that depend on it are wrong. One failure is enough for a launch that was refused for its arguments, shape or resources and was followed by other launches, and for a copy or memset that was refused for its arguments. An error of the GPU itself, such as an illegal memory access or a failed assertion, is returned by the next call and by all later calls; one such call is enough. The faulty kernel was launched earlier in the same context, after the last successful wait, and has no record. If only one record lacks its times, that kernel never ended. No kernel is named if records were lost. If GPU memory ran out, the finding names the requested size, the memory that the process held at the first failure, and the places that allocated it.",
	.remedy =
		"Check the result of every call, and cudaGetLastError() after <<<>>>. Stop at the first error, or remove the call. Run `gpuprof summary --by failure` for every error and its place. compute-sanitizer finds the kernel of an illegal access. PyTorch: CUDA_LAUNCH_BLOCKING=1 makes the launch itself fail.",
	.ignore =
		"The program expects the failure and has a fallback: for example, it repeats an allocation after it emptied a cache.",
	.threshold =
		{.count = 3,
		 .reason = "A program that checks its calls stops after the first failure or two"},
	.exception = "one such launch, copy or memset, or one error of the GPU itself, is enough",
	.is_of_results = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
