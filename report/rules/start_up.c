/*
 * What NCCL takes to make its communicators before the first operation, and to end them after the last; and contexts that take a second and
 * more to be made.  Speaks of what takes 5 % of the recorded time and 100 ms.
 */
#include "report/rules/rules.h"

#include "report/answers/ends.h"
#include "report/format.h"
#include "report/rules/advisor.h"

/* With its own code loaded, a context takes 100 to 300 ms. */
#define SLOW_CONTEXT_NS 1000000000u

static void add(struct gp_advisor *advisor, const struct gp_ends *ends, enum gp_end_part part)
{
	uint64_t ns = ends->first.part_ns[part] + ends->last.part_ns[part];
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, part, 0);

	gp_advisor_add(advisor, found, 0, ns, ns, NULL);
	if (ns > found->longest_ns) {
		found->longest_ns = ns;
		found->extra = ends->last.part_ns[part];
	}
}

static void look(struct gp_advisor *advisor)
{
	struct gp_ends ends;

	advisor->error = gp_ends_of(&ends, advisor->model);
	if (advisor->error != 0)
		return;
	if (ends.first.part_ns[GP_END_NCCL] + ends.last.part_ns[GP_END_NCCL] > 0)
		add(advisor, &ends, GP_END_NCCL);
	if (ends.first.part_ns[GP_END_CONTEXT] >= SLOW_CONTEXT_NS)
		add(advisor, &ends, GP_END_CONTEXT);
}

/* Of several processes, of the one that took longest. */
static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	uint64_t last_ns = found->extra;

	(void)advisor;
	if (found->detail == GP_END_CONTEXT) {
		fprintf(out, "making contexts took %s before the first operation",
			gp_format_ns(found->longest_ns).text);
		return;
	}
	fputs("NCCL took ", out);
	if (found->longest_ns > last_ns)
		fprintf(out, "%s before the first operation",
			gp_format_ns(found->longest_ns - last_ns).text);
	if (last_ns > 0)
		fprintf(out, "%s%s after the last one", found->longest_ns > last_ns ? ", " : "",
			gp_format_ns(last_ns).text);
	fputs(": it makes its communicators, and ends them", out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fputs(found->detail == GP_END_CONTEXT
		      ? "keep the driver loaded between runs (nvidia-smi -pm 1), and let the "
			"process "
			"see only the GPUs that it uses (CUDA_VISIBLE_DEVICES)"
		      : "make few communicators, others from them (ncclCommSplit), and do "
			"something "
			"else meanwhile (ncclCommInitRankConfig with blocking = 0)",
	      out);
}

const struct gp_rule gp_rule_start_up = {
	.id = "start-up",
	.title = "NCCL or contexts take long at the start and the end",
	.meaning =
		"Before its first operation a process makes a context on each GPU and, with NCCL, "
		"communicators, which all of their processes make together: whoever comes first "
		"waits for the last. It is so once in a process: what is a large part of a short "
		"run is nothing in a long one. NCCL's functions are known by its ranges, as far "
		"as ranges are recorded.",
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
