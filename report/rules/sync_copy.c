/*
 * Synchronous copies.  Speaks where those of a call site could save 3 % of the recorded time and
 * 100 us, at least 8 of them: fewer are input and output of the program, but for those of pageable
 * memory so slow that to page-lock it takes less.  Not for copies within a device, which do not hold
 * up the host, those to the device of 64 KiB and less, and those that mostly waited for other work
 * (hidden-wait).
 */
#include "report/rules/rules.h"

#include "report/cuda_names.h"
#include "report/format.h"
#include "report/rules/advisor.h"
#include "report/rules/copies.h"
#include "report/rules/language.h"

static bool is_synchronous(const struct gp_op *op)
{
	return !(op->flags & GP_COPY_ASYNC);
}

/* Few copies are worth a word where they could save that part of the recorded time, and that much. */
#define SLOW_PART 10u
#define SLOW_NS   100000000u

/* The rate of such copies, as a part of the link's peak: page-locking comes to more. */
#define SLOW_RATE 10u

static bool is_slow(const struct gp_case *found)
{
	const struct gp_copies *own = found->own;

	return own->pageable == found->count && own->without_peak == 0 &&
	       own->peak_ns * SLOW_RATE <= own->copied_ns;
}

static void look(struct gp_advisor *advisor)
{
	gp_copies_look(advisor, is_synchronous);
	for (uint32_t i = 0; i < advisor->case_count; i++) {
		struct gp_case *found = &advisor->cases[i];

		if (found->rule == advisor->rule && found->process == advisor->process &&
		    found->saves_ns >= SLOW_NS && found->saves_ns >= advisor->span_ns / SLOW_PART &&
		    is_slow(found))
			found->is_grave = true;
	}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_copies *own = found->own;

	(void)advisor;
	fprintf(out, "%s synchronous %s copies, %s in all, held up the host for %s",
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
			"copy with cudaMemcpyAsync in a stream, and prepare the next one while it "
			"runs",
		[GP_LANGUAGE_TORCH] =
			"copy with non_blocking=True, and prepare the next one while it runs",
	},
	{
		[GP_LANGUAGE_NATIVE] =
			"copy with cudaMemcpyAsync in a stream, from and to page-locked memory "
			"(cudaMallocHost), and prepare the next one while it runs",
		[GP_LANGUAGE_TORCH] = "copy with non_blocking=True, from and to page-locked memory "
				      "(pin_memory=True), and prepare the next one while it runs",
	},
};

static const char *const slow_changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] =
		"use page-locked memory (cudaMallocHost), once for all copies, or "
		"memory that was touched before: a copy waits for each page that the "
		"system has yet to find or to read",
	[GP_LANGUAGE_TORCH] = "use page-locked memory (pin_memory=True), once for all copies, or "
			      "memory that was touched before: a copy waits for each page that the "
			      "system has yet to find or to read",
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_copies *own = found->own;

	if (gp_copies_are_results(found))
		gp_copies_advise_less(advisor, found, out);
	else if (found->count < gp_rule_sync_copy.threshold.count)
		gp_language_advise(advisor, found, slow_changes, out);
	else
		gp_language_advise(advisor, found, changes[own->pageable > 0], out);
}

const struct gp_rule gp_rule_sync_copy = {
	.id = "sync-copy",
	.title = "synchronous copies",
	.meaning = "cudaMemcpy returns when the copy is done: meanwhile the host launches nothing, "
		   "and where the loop needs the result of a copy before it goes on, GPU and host "
		   "take turns. The most that can be saved is the time in the calls, but for what "
		   "the GPU had to do before the copy anyway.",
	.change = "cudaMemcpyAsync with page-locked memory, in a stream; with two buffers the next "
		  "copy runs while the kernels of this one do. Wait only where the host reads the "
		  "result. Results of a few bytes: read them less often, or an iteration later.",
	.ignore = "The program has nothing else to do meanwhile, or needs each result at once.",
	.threshold = {.saves_percent = 3, .saves_ns = 100000, .count = 8},
	.once = "of pageable memory at less than a tenth of the link's peak, where it could save "
		"10 % and 100 ms",
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct gp_copies),
	.look = look,
	.tell = tell,
	.advise = advise,
};
