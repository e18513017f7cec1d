/*
 * What NCCL takes to make its communicators and to end them, and contexts that take a second and more to be made.  Speaks of what takes 5 % of the
 * recorded time and 100 ms.
 */
#include "report/rules/rules.h"

#include "report/answers/ends.h"
#include "report/format.h"
#include "report/rules/advisor.h"
#include "report/rules/language.h"

/* With its own code loaded, a context takes 100 to 300 ms. */
#define SLOW_CONTEXT_NS 1000000000u

/* Of a range: what is shorter only asks something. */
#define LEAST_NS 1000000u

/* Whether most of a lull of the present process is within that time. */
static bool is_mostly_in(const struct gp_advisor *advisor, const struct gp_lull *lull,
			 uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < lull->start_ns)
		start_ns = lull->start_ns;
	if (end_ns > lull->end_ns)
		end_ns = lull->end_ns;
	return lull->after.model == advisor->process && gp_lull_is_between(lull) &&
	       end_ns > start_ns && 2 * (end_ns - start_ns) >= gp_lull_ns(lull);
}

/* Communicators may be made when there was some work already: other rules are to leave that time out. */
static void explain_lulls(struct gp_advisor *advisor, const struct gp_range *range)
{
	uint64_t start_ns = advisor->model->base_unix_ns + range->start_ns;
	uint64_t end_ns = advisor->model->base_unix_ns + range->end_ns;

	for (size_t i = 0; i < advisor->basis->lulls.device_count && advisor->error == 0; i++) {
		struct gp_lull *lull =
			gp_lulls_at(&advisor->basis->lulls, i, start_ns + (end_ns - start_ns) / 2);

		if (!lull || lull->told != GP_NONE ||
		    !is_mostly_in(advisor, lull, start_ns, end_ns))
			continue;
		lull->told = (uint32_t)(gp_advisor_case(advisor, GP_NO_SITE, GP_END_NCCL, 0) -
					advisor->cases);
		advisor->has_told = true;
	}
}

static void explain_all(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].end_ns - model->ranges[i].start_ns >= LEAST_NS &&
		    gp_range_is_set_up(model, &model->ranges[i]))
			explain_lulls(advisor, &model->ranges[i]);
}

static void add(struct gp_advisor *advisor, enum gp_end_part part, uint64_t start_ns,
		uint64_t end_ns)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, part, 0);
	uint64_t ns = start_ns + end_ns;

	gp_advisor_add(advisor, found, 0, ns, ns, NULL);
	if (ns <= found->longest_ns)
		return;
	found->longest_ns = ns;
	found->extra = end_ns;
}

static void look(struct gp_advisor *advisor)
{
	struct gp_ends ends;

	advisor->error = gp_ends_of(&ends, advisor->model);
	if (advisor->error != 0)
		return;
	if (ends.nccl_make_ns + ends.nccl_end_ns >= LEAST_NS) {
		add(advisor, GP_END_NCCL, ends.nccl_make_ns, ends.nccl_end_ns);
		explain_all(advisor);
	}
	if (ends.first.part_ns[GP_END_CONTEXT] >= SLOW_CONTEXT_NS)
		add(advisor, GP_END_CONTEXT, ends.first.part_ns[GP_END_CONTEXT], 0);
}

/* The first process that took as long as the longest; NULL: there is no memory. */
static const struct gp_model *longest_of(const struct gp_advisor *advisor,
					 const struct gp_case *found)
{
	struct gp_ends ends;

	for (size_t i = 0; i < advisor->scope.model_count; i++) {
		const struct gp_model *model = advisor->scope.models[i];

		if (gp_ends_of(&ends, model) == 0 &&
		    (found->detail == GP_END_CONTEXT
			     ? ends.first.part_ns[GP_END_CONTEXT]
			     : ends.nccl_make_ns + ends.nccl_end_ns) == found->longest_ns)
			return model;
	}
	return NULL;
}

/* Other times of the page may be another process's. */
static void tell_whose(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model =
		advisor->scope.model_count > 1 ? longest_of(advisor, found) : NULL;

	if (model)
		fprintf(out, " (pid %u, the longest)", model->pid);
}

/* Whether a process made more than one. */
static bool makes_several(const struct gp_advisor *advisor)
{
	struct gp_ends ends;

	for (size_t i = 0; i < advisor->scope.model_count; i++)
		if (gp_ends_of(&ends, advisor->scope.models[i]) == 0 && ends.nccl_made > 1)
			return true;
	return false;
}

/* Of several processes, of the one that took longest. */
static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	uint64_t end_ns = found->extra, make_ns = found->longest_ns - end_ns;

	if (found->detail == GP_END_CONTEXT) {
		fprintf(out, "making contexts took %s before the first operation",
			gp_format_ns(make_ns).text);
		tell_whose(advisor, found, out);
		return;
	}
	fputs("NCCL took ", out);
	if (make_ns > 0)
		fprintf(out, "%s to make communicators", gp_format_ns(make_ns).text);
	if (end_ns > 0)
		fprintf(out, "%s%s to end %s", make_ns > 0 ? ", and " : "",
			gp_format_ns(end_ns).text, make_ns > 0 ? "them" : "communicators");
	tell_whose(advisor, found, out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	if (found->detail == GP_END_CONTEXT)
		fputs("keep the driver loaded between runs (nvidia-smi -pm 1), and let the process "
		      "see only the GPUs that it uses (CUDA_VISIBLE_DEVICES)",
		      out);
	else
		fprintf(out, "%sdo something else while they are made (%s)",
			makes_several(advisor)
				? "make few communicators, others from them (ncclCommSplit), and "
				: "",
			gp_language_of(advisor->scope.models[found->process]) == GP_LANGUAGE_TORCH
				? "init_process_group with a device_id"
				: "ncclCommInitRankConfig with blocking = 0");
}

const struct gp_rule gp_rule_start_up = {
	.id = "start-up",
	.title = "NCCL's communicators, or contexts, take long to be made",
	.meaning =
		"A process makes a context on each GPU before its first operation and, with NCCL, "
		"communicators, which all of their processes make together: whoever comes first "
		"waits for the last. It is so once in a process: what is a large part of a short "
		"run is nothing in a long one. NCCL's functions are known by its NVTX ranges "
		"alone: "
		"of a build of NCCL without them, or without nvtx in --trace, nothing is said, and "
		"the summary's start and end have that time without a name. Communicators are "
		"mostly ended after the last operation: that is in its end.",
	.change = "Communicators: make few, others from them (ncclCommSplit), all at once "
		  "(ncclGroupStart, ncclGroupEnd), while the program reads its data "
		  "(ncclCommInitRankConfig with blocking = 0; PyTorch: init_process_group with a "
		  "device_id). Contexts: nvidia-smi -pm 1 keeps the driver loaded where no program "
		  "does; CUDA_VISIBLE_DEVICES hides GPUs that are not used.",
	.ignore = "The program runs for long: then it is over soon.",
	.threshold = {.saves_percent = 5, .saves_ns = 100000000, .count = 1},
	.is_once = true,
	.look = look,
	.tell = tell,
	.advise = advise,
};
