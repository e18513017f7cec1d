/*
 * Launches that cannot keep up.  Speaks of a process in which the GPU was idle between two launches
 * of kernels, for less than 200 us each time, with nothing else between them that takes a thread
 * longer than that, at least 200 times, 10 % of the recorded time and 1 ms.  It names where the
 * launches are made, or without their stacks what Python was seen to do meanwhile, and the sequence
 * of operations that a graph would launch at once, if there is one with half of that time.
 */
#include "report/advice/rules/rules.h"

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/meanwhile.h"
#include "report/analysis/loop/sequence_text.h"

#define MOST_NS 200000u

/*
 * Between launches that follow each other: in longer times a look at Python may have found
 * something else.
 */
#define PAUSE_NS 20000000u

/* What a graph leaves between two kernels. */
#define GRAPH_GAP_NS 1000u

/* Else the host did something in between, which a graph would not spare. */
static bool goes_on_launching(const struct gp_idle_gap_at *at)
{
	return at->call_before->thread_id != at->call_after->thread_id ||
	       at->call_after->start_ns <= gp_call_end_ns(at->call_before) + MOST_NS;
}

static bool waits_for_launch(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t cause_ns = gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_LAUNCH) +
			    gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_HOST);
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);

	return idle_ns <= MOST_NS && at->call_before && goes_on_launching(at) &&
	       !gp_advisor_tunes(advisor, at->call_after) &&
	       gp_advisor_class(advisor, at->call_after) == GP_API_LAUNCH &&
	       gp_advisor_class(advisor, at->call_before) == GP_API_LAUNCH &&
	       cause_ns * 5 >= idle_ns * 4;
}

struct own {
	uint64_t sequence; /* the text of one that a graph would launch at once, ... */
	uint64_t operations, occurrences; /* ... of so many, so often; 0 = there is none */
	uint64_t sequence_gap_ns;         /* ... with so much of the idle time */
	uint64_t places;                  /* the text of where launches are made */
	bool has_looks;                   /* at Python's stacks meanwhile */
};

static void vote(struct gp_launch_times *times, uint32_t thread)
{
	if (times->votes == 0)
		times->thread = thread;
	if (times->thread == thread)
		times->votes++;
	else
		times->votes--;
}

static void note_launch(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	struct gp_launch_times *times = &advisor->launch_times;
	struct gp_interval *last = times->count > 0 ? &times->intervals[times->count - 1] : NULL;
	uint64_t start_ns = at->call_before->start_ns, end_ns = gp_call_end_ns(at->call_after);

	vote(times, at->call_after->thread_id);
	if (last && start_ns >= last->start_ns && start_ns <= last->end_ns + PAUSE_NS) {
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return;
	}
	advisor->error = gp_array_grow_spill(&times->intervals, &times->capacity, times->count,
					     sizeof(*times->intervals));
	if (advisor->error == 0 && times->intervals)
		times->intervals[times->count++] = (struct gp_interval){start_ns, end_ns};
}

/* What Python did while one launch followed the other, on whichever device. */
static bool look_meanwhile(struct gp_advisor *advisor, const struct gp_case *found)
{
	struct gp_launch_times *times = &advisor->launch_times;

	times->count = (uint32_t)gp_interval_join(times->intervals, times->count);
	return gp_meanwhile_add_times(advisor, found, times->thread, times->intervals,
				      times->count);
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);

	note_launch(advisor, at);
	if (found->site == GP_NO_SITE) /* which says that there is no stack, where none has one */
		found->site = gp_advisor_site(advisor, at->call_after);
	gp_advisor_add(advisor, found, at->after->start_ns, at->after->end_ns - at->after->start_ns,
		       idle_ns > GRAPH_GAP_NS ? idle_ns - GRAPH_GAP_NS : 0, at->idle_gap);
	gp_launch_places_add(advisor, &advisor->launch_places,
			     gp_advisor_site(advisor, at->call_after), idle_ns);
}

static void put_places(struct gp_advisor *advisor, struct gp_case *found)
{
	char text[GP_LAUNCH_PLACES_BYTES];
	uint32_t site = gp_launch_places_sum(advisor, &advisor->launch_places, text);
	struct own *own = found->own;

	if (site == GP_NO_SITE)
		return;
	found->site = site;
	own->places = gp_advisor_text(advisor, text);
}

/*
 * One and the same kernel, again and again, has no beginning: how many are taken for one pass is
 * chance.
 */
static bool is_one_kernel(const struct gp_model *model, const struct gp_sequences *sequences,
			  const struct gp_sequence *row)
{
	uint32_t name = model->ops[sequences->elements[row->first].op].name;

	for (uint32_t i = 1; i < row->length; i++)
		if (model->ops[sequences->elements[row->first + i].op].name != name)
			return false;
	return true;
}

/* A sequence that a graph would launch at once, and so make up for most of what can be saved. */
static void note_sequence(struct gp_advisor *advisor, struct gp_case *found,
			  const struct gp_sequences *sequences, const struct gp_sequence *row)
{
	const struct gp_op *op = &advisor->model->ops[sequences->elements[row->first].op];
	struct own *own = found->own;
	char text[GP_SEQUENCE_TEXT_BYTES];

	if (op->graph_id != 0 || row->gap_ns * 2 < found->saves_ns ||
	    row->gap_ns <= own->sequence_gap_ns || is_one_kernel(advisor->model, sequences, row))
		return;
	gp_sequence_text(text, advisor->scope.names, advisor->model, sequences, row);
	own->sequence_gap_ns = row->gap_ns;
	own->sequence = gp_advisor_text(advisor, text);
	own->operations = row->length;
	own->occurrences = row->count;
}

static void look_for_sequence(struct gp_advisor *advisor, struct gp_case *found)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t first = 0, end; advisor->error == 0 && first < model->op_count; first = end) {
		struct gp_sequences sequences;

		end = gp_model_stream_end(model, first);
		if (gp_sequences_are_of_one_kernel(model, first, end))
			continue; /* none of which note_sequence() would take */
		advisor->error = gp_sequences_of(&sequences, model, advisor->tuning, first, end);
		for (uint32_t i = 0; advisor->error == 0 && i < sequences.count; i++)
			note_sequence(advisor, found, &sequences, &sequences.rows[i]);
		gp_sequences_free(&sequences);
	}
}

static void look(struct gp_advisor *advisor)
{
	struct gp_case *found;
	struct own *own;

	gp_advisor_idle_gaps(advisor, 0, waits_for_launch, take_idle_gap);
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	own = found->own;
	if (advisor->error == 0 && gp_advisor_is_worth(advisor, found)) {
		put_places(advisor, found);
		if (!gp_advisor_knows(advisor, found->site))
			own->has_looks = look_meanwhile(advisor, found);
		look_for_sequence(advisor, found);
	}
	gp_launch_places_free(&advisor->launch_places);
	gp_spill_free(advisor->launch_times.intervals);
	advisor->launch_times = (struct gp_launch_times){0};
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out,
		"the GPU waits for the launches of %s kernels, which run for only %s on average",
		gp_format_count(found->count).text,
		gp_format_ns(found->time_ns / found->count).text);
	if (gp_advisor_knows(advisor, found->site) && *gp_advisor_text_of(advisor, own->places))
		fprintf(out, "; %s", gp_advisor_text_of(advisor, own->places));
	else if (own->has_looks)
		gp_meanwhile_tell_shares(advisor, found, "while these were launched", out);
	if (own->occurrences > 0)
		fprintf(out,
			"; the same %s operations come %s times: %s; as a graph they take %s launches in place of %s",
			gp_format_count(own->operations).text,
			gp_format_count(own->occurrences).text,
			gp_advisor_text_of(advisor, own->sequence),
			gp_format_count(own->occurrences).text,
			gp_format_count(own->occurrences * own->operations).text);
}

static const char *const changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] =
		"capture the loop's launches in a CUDA graph (cudaStreamBeginCapture, cudaGraphLaunch), or fuse kernels",
	[GP_LANGUAGE_PYTHON] =
		"capture the loop's launches in a CUDA graph (torch.compile with mode=\"reduce-overhead\", torch.cuda.graphs, jax.jit), or fuse kernels",
	[GP_LANGUAGE_TORCH] =
		"capture the loop's launches in a CUDA graph (torch.compile with mode=\"reduce-overhead\", torch.cuda.graphs), or fuse kernels (torch.compile)",
	[GP_LANGUAGE_JAX] =
		"put the whole step into one jax.jit: it fuses kernels, and launches the rest as one",
	[GP_LANGUAGE_CUPY] =
		"capture the loop's launches in a CUDA graph (begin_capture() of a cupy.cuda.Stream), or fuse kernels (cupy.fuse)",
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];

	if (gp_language_of(model) == GP_LANGUAGE_TORCH && gp_language_is_compiled(model))
		fputs("capture the loop's launches in a CUDA graph (torch.compile with mode=\"reduce-overhead\", torch.cuda.graphs), and compile what of the loop is not yet, as the optimizer's step",
		      out);
	else
		gp_language_advise(advisor, found, changes, out);
}

static bool names_place(const struct gp_case *found)
{
	const struct own *own = found->own;

	return own->has_looks;
}

const struct gp_rule gp_rule_short_kernels = {
	.id = "short-kernels",
	.title = "kernels are shorter than their launches",
	.meaning =
		"A launch takes some microseconds on the host, with a framework ten to fifty. If kernels are shorter, the GPU waits before each one. A CUDA graph launches hundreds of kernels by one call, about a microsecond apart. The saving is the time between the kernels beyond that. The finding names the places that launch, and the function that most launches come from. Without call stacks it names the Python functions that stack samples found between the launches (--host-samples).",
	.change =
		"Capture a step in a graph (cudaStreamBeginCapture, torch.cuda.graphs, torch.compile with mode=\"reduce-overhead\") and launch it in each iteration. Fuse elementwise kernels (torch.compile, jax.jit). Larger batches make kernels longer.",
	.ignore = "Shapes or the sequence of kernels change with each iteration.",
	.threshold = {.saves_percent = 10, .saves_ns = 1000000, .count = 200},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
	.names_place = names_place,
};
