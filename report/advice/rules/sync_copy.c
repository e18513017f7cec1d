/*
 * Synchronous copies.  Speaks where those of a call site could save 3 % of the recorded time and
 * 100 us, at least 8 of them: fewer are input and output of the program, and told where they are of
 * pageable memory, and page-locked memory could save 10 % and 100 ms with what it takes to be
 * allocated.  Not for copies within a device, which do not hold up the host, those to the device of
 * 64 KiB and less, and those that mostly waited for other work (hidden-wait).
 */
#include "report/advice/rules/rules.h"

#include "report/analysis/idle/call_cause.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"
#include "report/advice/rules/language.h"

static bool is_synchronous(const struct gp_op *op)
{
	return !(op->flags & GP_COPY_ASYNC);
}

/*
 * Few copies are worth a word where they could save that part of the recorded time, and that much.
 */
#define FEW_PART 10u
#define FEW_NS   100000000u

/*
 * What page-locked memory takes to be allocated, in ns a byte; of less at once other things tell.
 */
#define LOCKED_NS_PER_BYTE 0.5
#define LEAST_LOCKED_BYTES (32u << 20)

struct locking {
	double ns_per_byte;
	bool is_own; /* it is what the program's own took */
};

static struct locking locking_of(const struct gp_model *model)
{
	uint64_t ns = 0, bytes = 0;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->call == GP_NONE ||
		    event->bytes < LEAST_LOCKED_BYTES ||
		    (event->memory_kind != GP_MEMORY_PINNED &&
		     event->memory_kind != GP_MEMORY_REGISTERED))
			continue;
		ns += gp_call_without_context_ns(model, event->call);
		bytes += event->bytes;
	}
	if (bytes == 0)
		return (struct locking){LOCKED_NS_PER_BYTE, false};
	return (struct locking){(double)ns / (double)bytes, true};
}

static void judge_few(const struct gp_advisor *advisor, struct gp_case *found)
{
	const struct gp_copies *own = found->own;
	uint64_t needed_ns = own->peak_ns + (uint64_t)((double)found->bytes *
						       locking_of(advisor->model).ns_per_byte);

	if (own->pageable < found->count || own->without_peak > 0 || found->saves_ns <= needed_ns)
		return;
	found->is_grave = found->saves_ns - needed_ns >= FEW_NS &&
			  found->saves_ns - needed_ns >= advisor->span_ns / FEW_PART;
	if (found->is_grave)
		found->saves_ns -= needed_ns;
}

/*
 * Beside other work no more of the copies can be than there is of that, from the first to the last:
 * what they take from page-locked memory stays, else. With copies of which that is not known
 * nothing is taken off.
 */
static void judge_many(struct gp_case *found)
{
	const struct gp_copies *own = found->own;
	uint64_t needed_ns = own->pageable > 0 ? own->peak_ns : own->copied_ns;
	uint64_t span_ns = own->last_ns - own->first_ns, beside_ns, stays_ns;

	if (own->pageable > 0 && own->without_peak > 0)
		return;
	/* what came behind the last one, as much as behind each of the others */
	beside_ns = span_ns > found->saves_ns
			    ? (span_ns - found->saves_ns) / (found->count - 1) * found->count
			    : 0;
	stays_ns = needed_ns > beside_ns ? needed_ns - beside_ns : 0;
	if (stays_ns == 0)
		return;
	if (stays_ns > found->saves_ns)
		stays_ns = found->saves_ns;
	found->saves_in_loop_ns -= (uint64_t)((double)found->saves_in_loop_ns * (double)stays_ns /
					      (double)found->saves_ns);
	found->saves_ns -= stays_ns;
}

static void look(struct gp_advisor *advisor)
{
	gp_copies_look(advisor, is_synchronous);
	for (uint32_t i = 0; i < advisor->case_count; i++) {
		struct gp_case *found = &advisor->cases[i];

		if (found->rule != advisor->rule || found->process != advisor->process)
			continue;
		if (found->count < gp_rule_sync_copy.threshold.count)
			judge_few(advisor, found);
		else
			judge_many(found);
	}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_copies *own = found->own;

	(void)advisor;
	fprintf(out, "%s synchronous %s copies, %s in all, blocked the host for %s",
		gp_format_count(found->count).text, gp_copy_kind_name((uint8_t)found->detail),
		gp_format_bytes(found->bytes).text, gp_format_ns(found->time_ns).text);
	if (own->pageable > 0)
		fprintf(out, "; %s of pageable memory",
			own->pageable == found->count ? "all"
						      : gp_format_count(own->pageable).text);
	if (!gp_copies_are_results(found))
		gp_copies_tell_rate(found, out);
}

/* Of page-locked memory, and of other. */
static const char *const changes[][GP_LANGUAGES] = {
	{
		[GP_LANGUAGE_NATIVE] =
			"copy with cudaMemcpyAsync in a stream, and prepare the next one while it runs",
		[GP_LANGUAGE_TORCH] =
			"copy with non_blocking=True, and prepare the next one while it runs",
	},
	{
		[GP_LANGUAGE_NATIVE] =
			"copy with cudaMemcpyAsync in a stream, from and to page-locked memory (cudaMallocHost), and prepare the next one while it runs",
		[GP_LANGUAGE_TORCH] =
			"copy with non_blocking=True, from and to page-locked memory (pin_memory=True), and prepare the next one while it runs",
	},
};

static const char *const few_changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] = "copy from and to page-locked memory (cudaMallocHost)",
	[GP_LANGUAGE_TORCH] = "copy from and to page-locked memory (pin_memory=True)",
};

static void advise_few(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	struct locking locking = locking_of(advisor->scope.models[found->process]);

	gp_language_advise(advisor, found, few_changes, out);
	fprintf(out, ", allocated once: %.2g s a GB for that%s are taken off what could be saved",
		locking.ns_per_byte, locking.is_own ? ", as the program's own takes," : "");
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_copies *own = found->own;

	if (gp_copies_are_results(found))
		gp_copies_advise_less(advisor, found, out);
	else if (found->count < gp_rule_sync_copy.threshold.count)
		advise_few(advisor, found, out);
	else
		gp_language_advise(advisor, found, changes[own->pageable > 0], out);
}

const struct gp_rule gp_rule_sync_copy = {
	.id = "sync-copy",
	.title = "synchronous copies",
	.meaning =
		"cudaMemcpy returns when the copy is done. The host launches nothing meanwhile, so GPU and host alternate if each iteration needs the copy. The saving is at most the time in the calls, without the work that the GPU had before the copy, and without the time of the copies that no other work can hide.",
	.change =
		"Use cudaMemcpyAsync with page-locked memory, in a stream. With two buffers the next copy overlaps the current kernels. Wait only before the host reads the result. Read results of a few bytes less often, or one iteration later.",
	.ignore = "The program has no other work meanwhile, or needs each result immediately.",
	.threshold = {.saves_percent = 3, .saves_ns = 100000, .count = 8},
	.few = "once, of pageable memory, where page-locked memory could save 10 % and 100 ms with what it takes to be allocated: as much a byte as the program's own of 32 MiB and more, where it has any, else 0.5 s a GB",
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct gp_copies),
	.look = look,
	.tell = tell,
	.advise = advise,
};
