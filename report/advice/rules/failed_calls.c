/*
 * Errors that nobody looked at.  Speaks where calls of one place that launch, copy, allocate or
 * wait failed with the same error at least 3 times in one thread: a program that looks does
 * something else after the first or second, in each of its threads and processes.  Of a kernel, a
 * copy or a memory set that was refused for what it was given, and is not done while kernels go on,
 * one is enough.  After an error of the GPU itself every call fails, wherever it is: all of them
 * are one case, at the place that was told first, and one is enough; a kernel that was launched
 * before in its context, or in a graph, after the last wait that went well, and of which no record
 * came made it; if there is one record alone that has no times, the kernel of that one: its end
 * never came.  Where records were lost, none of that is known.  Frees while the driver shuts down
 * are no errors of the program, nor are allocations of a cache that finds memory full: it gives
 * blocks back and tries again.  Where memory was lacking, it tells what the process held when the
 * first of them failed.
 */
#include "report/advice/rules/rules.h"

#include <errno.h>
#include <string.h>

#include "report/analysis/idle/activity.h"
#include "report/analysis/device/failures.h"
#include "report/model/losses.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/advice/rules/advisor.h"

#define INVALID_VALUE          1
#define DRIVER_SHUTTING_DOWN   4
#define INVALID_CONFIGURATION  9 /* the runtime's; the driver's is 1 */
#define INVALID_DEVICE_POINTER 17
#define INVALID_DIRECTION      21
#define OUT_OF_RESOURCES       701
#define ASSERTION              710
#define LASTING                GP_NO_SITE /* in place of a function: of all of them */

#define DRIVER_BIT ((uint64_t)1 << 16)

/*
 * Detail: the function's number, or LASTING; other_detail: the error; count: in the thread with
 * most.
 */
struct own {
	uint64_t first_ns;  /* of a lasting error: when it was told first */
	uint64_t error;     /* and by whom: the driver and the runtime tell of the same */
	uint64_t function;  /* the text of what it is called */
	uint64_t in_thread; /* calls of the thread that was looked at last */
	uint64_t in_all;
	uint32_t thread_id;  /* that one */
	uint32_t context_id; /* of a lasting error: of the call that told it first */
	/* kernels and graphs that were launched there, of which nothing says that they ended */
	uint32_t launches;
	uint32_t graphs;      /* of these */
	uint32_t launch;      /* the first one's correlation id */
	uint32_t launch_site; /* of all of them; GP_NO_SITE: they were launched at several places */
	uint64_t launch_ns;   /* how long before the error the first one was */
	uint64_t kernel; /* the number of its name, where it is told by a record without times */
	bool has_kernel;
	struct gp_asked asked;
	struct gp_oom_snapshot held; /* when the first of them failed */
	uint64_t held_at_ns;
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

/* Calls of a thread are looked at one after the other. */
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

/* NULL: it is none of those that are counted. */
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

/*
 * For the arguments or the shape that it was given: what is tried, as whether code for this GPU is
 * there, fails otherwise.
 */
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

/* When the last kernel was launched: a program that launches after an error goes on. */
static uint64_t last_launch_ns(const struct gp_model *model)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		if (model->calls[i].status == 0 && model->calls[i].start_ns > last_ns &&
		    gp_model_api_class(model, model->calls[i].api) == GP_API_LAUNCH)
			last_ns = model->calls[i].start_ns;
	return last_ns;
}

/* When the first of them failed: the calls come thread by thread. */
static void note_held(struct gp_advisor *advisor, struct own *own, const struct gp_call *call)
{
	if (call->status != GP_OUT_OF_MEMORY ||
	    (own->in_all > 0 && call->start_ns >= own->held_at_ns))
		return;
	own->held_at_ns = call->start_ns;
	if (gp_oom_snapshot_at(&own->held, advisor->model, call, advisor->sites) != 0)
		advisor->error = -ENOMEM;
}

static void take(struct gp_advisor *advisor, const struct gp_call *call, uint64_t launches_until_ns)
{
	struct gp_case *found = case_of(advisor, call);
	struct own *own;
	uint64_t count;

	if (!found)
		return;
	advisor->failed_calls++;
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

/*
 * Whether a call without a record of its kernel says that no record of it came, and not that none
 * was asked for.
 */
static bool tells_of_all_kernels(const struct gp_model *model)
{
	const struct gp_losses *losses = &model->losses;

	return !model->recorder && losses->launches_left_out == 0 &&
	       losses->launches_outside == 0 && losses->launches_unnumbered == 0 &&
	       !gp_loss_is_counted(model, GP_LOSS_LOSS) && gp_recorded_kind(model, "gpu");
}

/* Whether a call is of that context; 0 = not known. */
static bool is_of_context(const struct gp_call *call, uint32_t context_id)
{
	return call->context_id == context_id || call->context_id == 0 || context_id == 0;
}

/*
 * When the last wait for all of a context's work began that ended well before an error: what was
 * launched until then had ended.
 */
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

/*
 * Whether an operation of a graph is the last one of its stream: there may have been others to
 * come.
 */
static bool may_go_on(const struct gp_model *model, const struct gp_call *call)
{
	for (uint32_t i = call->first_op; i != GP_NONE; i = model->ops[i].next_op)
		if (gp_model_stream_end(model, i) == i + 1)
			return true;
	return false;
}

/* Whether nothing says that what a call launched has ended. */
static bool is_open(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	if (class == GP_API_GRAPH_LAUNCH)
		return call->first_op == GP_NONE || may_go_on(model, call);
	return class == GP_API_LAUNCH && call->first_op == GP_NONE;
}

static void note_launch(struct gp_advisor *advisor, struct own *own, const struct gp_call *call)
{
	uint32_t site = gp_advisor_site(advisor, call);

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

/* Whether what a call launched then may have made the error. */
static bool may_be_cause(const struct own *own, const struct gp_call *call, uint64_t from_ns)
{
	return !call->captured && call->status == 0 && call->start_ns >= from_ns &&
	       call->start_ns < own->first_ns && is_of_context(call, own->context_id);
}

/*
 * The kernel of the only record that came without times, which had begun and never ended; NULL:
 * there is none, or several.
 */
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

/* The name of the only launch is known where it was looked for its record. */
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

/*
 * Of which one made the error: launched in its context before it was told, without a record of
 * their end, and no wait came between.
 */
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

/* Of the present process. */
static void find_causes(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->case_count; i++) {
		struct gp_case *found = &advisor->cases[i];

		if (gp_advisor_is_present(advisor, found) && found->detail == LASTING &&
		    tells_of_all_kernels(advisor->model) && !find_kernel(advisor, found->own))
			find_launches(advisor, found->own);
	}
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint64_t launches_until_ns = last_launch_ns(model);

	for (uint32_t i = 0; i < model->call_count && advisor->error == 0; i++)
		if (gp_activity_is_failure(model, &model->calls[i]))
			take(advisor, &model->calls[i], launches_until_ns);
	find_causes(advisor);
}

static void tell_of_call(const struct gp_advisor *advisor, const struct gp_case *found,
			 const char *error, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out, "%s failed ", gp_advisor_text_of(advisor, found->detail));
	if (found->count == 1)
		fputs("once", out);
	else
		fprintf(out, "%s times", gp_format_count(found->count).text);
	if (own->in_all > found->count)
		fprintf(out, " in one thread, %s in all", gp_format_count(own->in_all).text);
	fprintf(out, ": %s", error);
	gp_asked_tell(out, &own->asked);
	fputs(", and the program went on", out);
	if (own->held.is_known) {
		fputs("; ", out);
		gp_oom_snapshot_tell(out, &own->held, advisor->sites);
	}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	uint64_t code = found->detail == LASTING ? own->error : found->other_detail;
	char error[GP_FAILURE_ERROR_BYTES];

	gp_failure_error(error, (uint16_t)code, (code & DRIVER_BIT) != 0);
	if (found->detail != LASTING)
		tell_of_call(advisor, found, error, out);
	else if (own->in_all == 1)
		fprintf(out, "%s: %s returned it", error,
			gp_advisor_text_of(advisor, own->function));
	else
		fprintf(out, "%s: %s returned it here first, and %s calls in all failed with it",
			error, gp_advisor_text_of(advisor, own->function),
			gp_format_count(own->in_all).text);
}

/*
 * "the kernel launched 40.10us before at step (train.cu:12)"; "the kernel saxpy, launched ... at
 * step (train.cu:12),", "the kernel saxpy of the graph launched ..."
 */
static void print_one_launch(const struct gp_advisor *advisor, const struct own *own, FILE *out)
{
	bool is_apart = own->has_kernel && own->graphs == 0;

	fputs(own->graphs > 0 && !own->has_kernel ? "a kernel" : "the kernel", out);
	if (own->has_kernel)
		fprintf(out, " %s", gp_scope_kernel_of(&advisor->scope, own->kernel));
	fputs(own->graphs > 0 ? " of the graph" : is_apart ? "," : "", out);
	fprintf(out, " launched %s before", gp_format_ns(own->launch_ns).text);
	if (gp_advisor_knows(advisor, own->launch_site))
		fprintf(out, " at %s", gp_call_sites_at(advisor->sites, own->launch_site).place);
	else
		fprintf(out,
			" (CorrID %u of `gpuprof trace api`; with --stacks=all its line is known)",
			own->launch);
	if (is_apart)
		fputs(",", out);
}

/* "one of the 3 kernels not known to have ended, all launched at step (train.cu:12)," */
static void print_launches(const struct gp_advisor *advisor, const struct own *own, FILE *out)
{
	fprintf(out, "one of the %s %s not known to have ended",
		gp_format_count(own->launches).text,
		own->graphs == 0               ? "kernels"
		: own->graphs == own->launches ? "graphs"
					       : "kernels and graphs");
	if (gp_advisor_knows(advisor, own->launch_site))
		fprintf(out, ", all launched at %s,",
			gp_call_sites_at(advisor->sites, own->launch_site).place);
}

static void advise_after_error(const struct gp_advisor *advisor, const struct gp_case *found,
			       FILE *out)
{
	const struct own *own = found->own;

	if (found->other_detail == ASSERTION)
		fputs("an assert() of ", out);
	if (own->launches == 0)
		fputs("a kernel before it", out);
	else if (own->launches == 1)
		print_one_launch(advisor, own, out);
	else
		print_launches(advisor, own, out);
	if (found->other_detail == ASSERTION)
		fputs(" failed, whose message is on stderr", out);
	else
		fprintf(out, " did that; compute-sanitizer %s",
			own->launches == 1 ? "says where in it" : "names it");
	fputs(". No call works after it: end at the first error", out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	/* <<<>>> is compiled to such a call, whose result the program does not see */
	static const char launch[] = "cudaLaunch";

	if (found->detail == LASTING)
		advise_after_error(advisor, found, out);
	else
		fprintf(out, "look at what the call returns%s: what was to be done was not done",
			strncmp(gp_advisor_text_of(advisor, found->detail), launch,
				strlen(launch)) == 0
				? ", after <<<>>> at cudaGetLastError()"
				: "");
}

const struct gp_rule gp_rule_failed_calls = {
	.id = "failed-calls",
	.title = "calls fail and the program continues, or an error ends all GPU work",
	.meaning =
		"The same call failed with the same error repeatedly, in one thread. A kernel that was not launched computed nothing, so results that depend on it are wrong. One failure is enough for a launch refused for its arguments, shape or resources that other launches followed, and for a copy or memset refused for its arguments. An error of the GPU itself, such as an illegal memory access or a failed assertion, is returned by the next call and by all later calls; one such call is enough. The faulty kernel is one of those launched earlier in the same context, after the last successful wait, that have no record. If only one record lacks its times, that kernel never ended. No kernel is named if records were lost. If GPU memory ran out, the finding names the requested size, the memory that the process held at the first failure, and the places that allocated it.",
	.change =
		"Check the result of every call, and cudaGetLastError() after <<<>>>. Stop at the first error, or remove the call. Run `gpuprof summary --by failure` for every error and its place. compute-sanitizer finds the kernel of an illegal access. PyTorch: CUDA_LAUNCH_BLOCKING=1 makes the launch itself fail.",
	.ignore =
		"The program expects the failure and has a fallback: for example, it repeats an allocation after it emptied a cache.",
	.threshold = {.count = 3},
	.few = "once, of such a launch or copy, or an error of the GPU itself",
	.is_of_results = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
