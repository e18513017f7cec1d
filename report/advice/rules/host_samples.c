#include "report/advice/rules/host_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/host/python_samples.h"
#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/tables/host_work.h"

/* In the numbers of the sums of host_work: of the other threads. */
#define OTHERS (UINT64_C(1) << 32)

static uint64_t since_base(const struct gp_model *model, uint64_t unix_ns)
{
	return unix_ns > model->base_unix_ns ? unix_ns - model->base_unix_ns : 0;
}

static bool add_of(struct gp_advisor *advisor, const struct gp_case *found,
		   enum gp_host_weight weight, uint32_t thread, const struct gp_interval *times,
		   uint32_t count)
{
	struct gp_host_window window = {.tally = &advisor->host_work,
					.places = advisor->scope.host_places,
					.model = advisor->model};
	uint64_t sum = (uint64_t)(found - advisor->cases);
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		window.start_ns = times[i].start_ns;
		window.end_ns = times[i].end_ns;
		window.sum = sum;
		window.weight = weight;
		if (!gp_host_work_add(&window, thread))
			continue;
		any = true;
		window.sum = OTHERS | sum;
		window.weight = weight == GP_HOST_LOOKS ? GP_HOST_LOOKS : GP_HOST_TIMES;
		gp_host_work_add_others(&window, thread);
	}
	return any;
}

static bool add(struct gp_advisor *advisor, const struct gp_case *found, enum gp_host_weight weight,
		uint32_t thread, const struct gp_interval *times, uint32_t count)
{
	const struct gp_model *model = advisor->model;

	if (model->sample_count == 0 || !gp_host_places_in(&advisor->scope) ||
	    found == &advisor->spare)
		return false;
	if (weight == GP_HOST_LOOKS && gp_host_work_knows(model, thread))
		return add_of(advisor, found, weight, thread, times, count);
	return add_of(advisor, found, weight, thread, times, count) ||
	       add_of(advisor, found, weight, model->pid, times, count);
}

bool gp_host_samples_add_times(struct gp_advisor *advisor, const struct gp_case *found,
			       uint32_t thread, const struct gp_interval *times, uint32_t count)
{
	return add(advisor, found, GP_HOST_TIMES, thread, times, count);
}

bool gp_host_samples_add_time(struct gp_advisor *advisor, const struct gp_case *found,
			      uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	return add(advisor, found, GP_HOST_TIMES_OUTSIDE_CALLS, thread,
		   &(struct gp_interval){start_ns, end_ns}, 1);
}

/* Whether a thread's work is known also where no sample fell into a short time. */
static bool is_exact(const struct gp_model *model)
{
	return model->function_interval_ns > 0;
}

bool gp_host_samples_add_counts(struct gp_advisor *advisor, const struct gp_case *found,
				uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	return add(advisor, found,
		   is_exact(advisor->model) ? GP_HOST_TIMES_OUTSIDE_CALLS : GP_HOST_LOOKS, thread,
		   &(struct gp_interval){start_ns, end_ns}, 1);
}

bool gp_host_samples_add(struct gp_advisor *advisor, const struct gp_case *found,
			 const struct gp_idle_gap_at *at, uint64_t end_unix_ns)
{
	return gp_host_samples_add_time(advisor, found, at->call_after->thread_id,
					since_base(advisor->model, at->idle_gap->start_ns),
					since_base(advisor->model, end_unix_ns));
}

/* The sampled functions of a case, longest first, to be freed; NULL without samples. */
static struct gp_host_function *functions_of(const struct gp_advisor *advisor,
					     const struct gp_case *found, uint32_t *count)
{
	*count = 0;
	if (!advisor->scope.host_places)
		return NULL;
	return gp_host_work_functions(&advisor->host_work, (uint64_t)(found - advisor->cases),
				      advisor->scope.host_places, count);
}

const char *gp_host_samples_place(const struct gp_advisor *advisor, const struct gp_case *found)
{
	struct gp_host_spot spot;

	if (!advisor->scope.host_places)
		return "";
	spot = gp_host_work_spot(&advisor->host_work, (uint64_t)(found - advisor->cases),
				 advisor->scope.host_places);
	return spot.text;
}

/* The sums of these functions: all, waiting, for other threads, and at one instruction. */
struct sums {
	uint64_t time_ns, waiting_ns, for_threads_ns, stayed_ns, samples;
};

static struct sums sums_of(const struct gp_host_places *places,
			   const struct gp_host_function *functions, uint32_t count)
{
	struct sums sums = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct gp_host_place place = gp_host_places_at(places, functions[i].place);
		uint64_t ns = functions[i].total_ns;

		sums.time_ns += ns;
		sums.samples += functions[i].samples;
		sums.stayed_ns += functions[i].stayed_ns;
		sums.waiting_ns += gp_host_place_waits(&place) ? ns : 0;
		sums.for_threads_ns += gp_host_place_waits_for_thread(&place) ? ns : 0;
	}
	return sums;
}

static bool waits(const struct sums *own)
{
	return own->waiting_ns * 2 >= own->time_ns;
}

static bool waits_for_thread(const struct sums *own)
{
	return own->for_threads_ns * 2 >= own->waiting_ns;
}

/*
 * The busiest other Python thread, if it worked for 1/GP_OTHER_PART of that time.  Returns how many
 * worked; 0: none.  It does not matter to a thread that waits for a process or external data.
 */
static uint32_t find_other(const struct gp_advisor *advisor, const struct gp_case *found,
			   const struct sums *own, struct gp_host_function *other)
{
	uint32_t count;

	if (waits(own) && !waits_for_thread(own))
		return 0;
	count = gp_host_work_busiest(&advisor->host_work,
				     OTHERS | (uint64_t)(found - advisor->cases),
				     advisor->scope.host_places, other);
	return count > 0 && other->total_ns * GP_OTHER_PART >= own->time_ns ? count : 0;
}

/* Whether the thread waits for another one, while all others wait, too. */
static bool waits_with_others(const struct gp_advisor *advisor, const struct gp_case *found,
			      const struct sums *own)
{
	uint64_t others = OTHERS | (uint64_t)(found - advisor->cases);
	struct gp_host_function busiest, *functions;
	uint32_t count;

	if (!waits(own) || !waits_for_thread(own) ||
	    gp_host_work_busiest(&advisor->host_work, others, advisor->scope.host_places,
				 &busiest) > 0)
		return false;
	functions = gp_host_work_functions(&advisor->host_work, others, advisor->scope.host_places,
					   &count);
	free(functions);
	return count > 0;
}

struct story {
	const struct gp_host_places *places;
	enum gp_sample_style style;
	const struct gp_host_function *functions;
	struct gp_host_function other; /* the busiest of so many others; 0: none */
	uint32_t count, others;
	bool all_wait; /* this thread for another one, and all others, too */
	struct sums own;
	struct gp_python_samples samples; /* of the process */
	uint64_t times;                   /* that the times are an average of; 1: they are sums */
	const char *name;                 /* of a sample */
};

static void print_function(const struct story *story, const struct gp_host_function *function,
			   bool is_first, FILE *out)
{
	uint64_t ns = gp_host_function_has_line(function) ? function->line_ns : function->total_ns;
	struct gp_host_function average = *function;

	average.line_ns /= story->times;
	average.total_ns /= story->times;
	average.place_ns /= story->times;
	if (story->style == GP_SAMPLE_TIMES)
		gp_host_function_print_time(out, story->places, &average);
	else if (story->style == GP_SAMPLE_COUNTS)
		gp_host_function_print_count(out, story->places, function);
	else
		gp_host_function_print(out, story->places, function);
	if (story->style == GP_SAMPLE_SHARES && story->own.samples >= GP_SHARE_SAMPLES)
		fprintf(out, " for %s %%%s",
			gp_format_percent((double)ns, (double)story->own.time_ns).text,
			is_first ? " of the time" : "");
}

/*
 * The other thread may hold the interpreter lock.  It does not if it stays at one instruction, in a
 * call outside of Python (time.sleep, a read), and it blocks no thread that waits.
 */
static void print_other(const struct story *story, FILE *out)
{
	fputs("; another thread", out);
	if (story->others > 1)
		fprintf(out, ", the busiest of %s,", gp_format_count(story->others).text);
	fputs(" was ", out);
	print_function(story, &story->other, false, out);
	if (gp_host_function_stays(&story->other))
		fputs(", at the same instruction in each sample (a long call, or a short loop)",
		      out);
	else if (!waits(&story->own))
		fputs(", and may have blocked this one", out);
}

static void print_own(const struct story *story, FILE *out)
{
	const struct gp_host_function *functions = story->functions;
	bool is_first = true;

	for (uint32_t i = 0; i < story->count && i < GP_NAMED_FUNCTIONS &&
			     functions[i].total_ns * GP_NAMED_PART >= functions[0].total_ns;
	     i++) {
		if (story->style == GP_SAMPLE_SHARES && functions[i].samples == 0)
			continue; /* only near such a time */
		fputs(!is_first                          ? "; "
		      : story->style == GP_SAMPLE_COUNTS ? " the host was "
		      : story->times > 1                 ? "; meanwhile, on average, the host was "
							 : "; meanwhile the host was ",
		      out);
		print_function(story, &functions[i], is_first, out);
		is_first = false;
	}
}

/* The activity that the thread waits for comes first: the end may be cut off. */
static void print_story(FILE *out, const void *context)
{
	const struct story *story = context;
	bool is_for_other = story->others > 0 && waits(&story->own);
	const char *plural = story->own.samples == 1 ? "" : "s";

	if (is_for_other)
		print_other(story, out);
	if (story->style == GP_SAMPLE_COUNTS)
		fprintf(out, "; meanwhile, in %s sample%s,",
			gp_format_count(story->own.samples).text, plural);
	print_own(story, out);
	if (story->others > 0 && !is_for_other)
		print_other(story, out);
	if (story->all_wait)
		fputs("; all other Python threads waited, too, for example for a process or for external data",
		      out);
	if (story->own.samples == 0 || story->style == GP_SAMPLE_COUNTS)
		return;
	fprintf(out, "; from %s %s%s", gp_format_count(story->own.samples).text, story->name,
		plural);
	if (gp_host_work_is_much(story->samples.lost, &story->samples))
		fprintf(out, " (%s of the process's %s found no stack)",
			gp_format_count(story->samples.lost).text,
			gp_format_count(story->samples.all).text);
}

/*
 * Most of such gaps lie between two samples: the times that these represent are partly those of
 * other work, around the gap, but the samples in the other gaps tell.
 */
static bool is_sparse(const struct story *story, const struct gp_model *model,
		      const struct gp_case *found)
{
	return !is_exact(model) && story->style == GP_SAMPLE_TIMES &&
	       story->own.samples >= GP_SHARE_SAMPLES && story->own.samples < found->count;
}

static void count_samples(struct gp_host_function *function)
{
	uint64_t total_ns = function->samples * GP_PYTHON_SAMPLE;
	double scale = function->total_ns > 0 ? (double)total_ns / (double)function->total_ns : 0;

	function->line_ns = (uint64_t)((double)function->line_ns * scale + 0.5);
	function->place_ns = (uint64_t)((double)function->place_ns * scale + 0.5);
	function->stayed_ns = (uint64_t)((double)function->stayed_ns * scale + 0.5);
	function->total_ns = total_ns;
}

static int compare_functions(const void *a, const void *b, const void *context)
{
	const struct gp_host_function *left = a, *right = b;

	(void)context;
	return (left->total_ns < right->total_ns) - (left->total_ns > right->total_ns);
}

/* In place of times; those without a sample go. */
static void count_instead(struct story *story, struct gp_host_function *functions)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < story->count; i++) {
		count_samples(&functions[i]);
		if (functions[i].samples > 0)
			functions[count++] = functions[i];
	}
	gp_array_sort(functions, count, sizeof(*functions), compare_functions, NULL);
	count_samples(&story->other);
	story->count = count;
	story->style = GP_SAMPLE_COUNTS;
}

void gp_host_samples_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				enum gp_sample_style style, struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	struct story story = {
		.places = advisor->scope.host_places,
		.style = style == GP_SAMPLE_COUNTS && is_exact(model) ? GP_SAMPLE_TIMES : style,
		.times = style == GP_SAMPLE_TIMES && gp_advisor_recurs(advisor, found)
				 ? found->count
				 : 1,
		.name = gp_python_sample_name(model)};
	struct gp_host_function *functions = functions_of(advisor, found, &story.count);

	story.functions = functions;
	story.own = sums_of(story.places, functions, story.count);
	if (story.count > 0) {
		if (story.own.samples > 0 && style != GP_SAMPLE_SHARES)
			story.others = find_other(advisor, found, &story.own, &story.other);
		story.all_wait =
			style != GP_SAMPLE_SHARES && waits_with_others(advisor, found, &story.own);
		if (is_sparse(&story, model, found))
			count_instead(&story, functions);
		gp_host_work_add_samples(&story.samples, model);
		gp_document_add_printed(values, "samples", print_story, &story);
	}
	free(functions);
}

uint64_t gp_host_samples_first(struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_host_places *places = advisor->scope.host_places;
	uint32_t count;
	struct gp_host_function *functions = functions_of(advisor, found, &count);
	struct sums sums = sums_of(places, functions, count);
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (out && count > 0 && functions[0].total_ns * 2 >= sums.time_ns)
		gp_host_function_print(out, places, &functions[0]);
	if (out)
		fclose(out);
	free(functions);
	return gp_advisor_text(advisor, text);
}

void gp_host_samples_move(struct gp_advisor *advisor, const struct gp_case *from,
			  const struct gp_case *to)
{
	uint64_t from_sum = (uint64_t)(from - advisor->cases);
	uint64_t to_sum = (uint64_t)(to - advisor->cases);

	gp_host_work_move(&advisor->host_work, from_sum, to_sum);
	gp_host_work_move(&advisor->host_work, OTHERS | from_sum, OTHERS | to_sum);
}

static bool polls(const struct gp_advisor *advisor, const struct gp_case *found,
		  const struct sums *own)
{
	struct gp_host_function other;

	return own->stayed_ns * 4 >= own->time_ns * 3 &&
	       find_other(advisor, found, own, &other) > 0 && gp_host_function_stays(&other);
}

enum gp_wait gp_host_samples_wait(const struct gp_advisor *advisor, const struct gp_case *found)
{
	uint32_t count;
	struct gp_host_function *functions = functions_of(advisor, found, &count);
	struct sums sums = sums_of(advisor->scope.host_places, functions, count);

	free(functions);
	if (count == 0)
		return GP_WAIT_NONE;
	if (waits(&sums))
		return waits_for_thread(&sums) ? GP_WAIT_THREAD : GP_WAIT_OUTSIDE;
	return polls(advisor, found, &sums) ? GP_WAIT_POLLING : GP_WAIT_NONE;
}

static enum gp_compiler find_compiler(const struct gp_advisor *advisor, const struct gp_case *found,
				      uint64_t *ns, uint64_t *samples)
{
	const struct gp_host_places *places = advisor->scope.host_places;
	uint64_t by_ns[GP_COMPILERS] = {0};
	enum gp_compiler compiler = GP_COMPILER_NONE;
	uint32_t count;
	struct gp_host_function *functions = functions_of(advisor, found, &count);
	struct sums sums = sums_of(places, functions, count);

	for (uint32_t i = 0; i < count; i++) {
		struct gp_host_place place = gp_host_places_at(places, functions[i].place);

		by_ns[gp_host_place_compiler(&place)] += functions[i].total_ns;
	}
	for (enum gp_compiler i = GP_COMPILER_NONE + 1; i < GP_COMPILERS; i++)
		if (count > 0 && by_ns[i] * 2 >= sums.time_ns)
			compiler = i;
	*ns = by_ns[compiler];
	*samples = sums.samples;
	free(functions);
	return compiler;
}

enum gp_compiler gp_host_samples_compiler(const struct gp_advisor *advisor,
					  const struct gp_case *found)
{
	uint64_t ns, samples;
	enum gp_compiler compiler = find_compiler(advisor, found, &ns, &samples);

	return ns * GP_COMPILER_PART >= found->time_ns ? compiler : GP_COMPILER_NONE;
}

enum gp_compiler gp_host_samples_compiler_by_count(const struct gp_advisor *advisor,
						   const struct gp_case *found)
{
	uint64_t ns, samples;
	enum gp_compiler compiler = find_compiler(advisor, found, &ns, &samples);

	return samples >= GP_SHARE_SAMPLES ? compiler : GP_COMPILER_NONE;
}

bool gp_host_samples_are_other_work(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_host_places *places = advisor->scope.host_places;
	uint64_t loading_ns = 0;
	uint32_t count;
	struct gp_host_function *functions = functions_of(advisor, found, &count);
	struct sums sums = sums_of(places, functions, count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_host_places_at(places, functions[i].place).is_of_loader)
			loading_ns += functions[i].total_ns;
	free(functions);
	return sums.samples >= GP_SPOT_SAMPLES && loading_ns * 2 <= sums.time_ns &&
	       gp_host_samples_wait(advisor, found) == GP_WAIT_NONE;
}

/* Of "step (train.py:40)": without ":40)". */
static size_t function_bytes(const char *place)
{
	const char *line = strrchr(place, ':');

	return line ? (size_t)(line - place) : strlen(place);
}

static bool is_of_function(const char *place, const char *function, size_t bytes)
{
	return function_bytes(place) == bytes && strncmp(place, function, bytes) == 0;
}

bool gp_host_samples_use_result(const struct gp_advisor *advisor, const struct gp_case *found,
				uint32_t before_site, uint32_t after_site)
{
	const struct gp_host_places *places = advisor->scope.host_places;
	uint64_t ns = 0;
	uint32_t count;
	struct gp_host_function *functions;
	struct sums sums;
	const char *reads;
	size_t bytes;

	if (!gp_advisor_knows(advisor, before_site) || !gp_advisor_knows(advisor, after_site))
		return false;
	reads = gp_call_sites_at(advisor->sites, before_site).place;
	bytes = function_bytes(reads);
	functions = functions_of(advisor, found, &count);
	sums = sums_of(places, functions, count);
	for (uint32_t i = 0; i < count; i++) {
		const char *own = gp_host_places_at(places, functions[i].place).own;

		ns += is_of_function(own, reads, bytes) ? functions[i].total_ns : 0;
	}
	free(functions);
	return sums.samples >= GP_SPOT_SAMPLES && ns * 2 >= sums.time_ns &&
	       !is_of_function(gp_call_sites_at(advisor->sites, after_site).place, reads, bytes);
}
