#include "report/tables/host_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/analysis/host/python_samples.h"

#define MUCH          20   /* see gp_host_work_is_much(): one of this many samples */
#define MOST_NESTED   4u   /* levels of nested calls that are searched */
#define MOST_EXAMINED 4096 /* observations of a sample that are searched for in calls */

/* Keys and sums of a row in a tally. */
enum { SUM, PLACE, THREAD };
enum { NS, SAMPLES, STAYED };

struct window {
	struct gp_host_window in;
	uint32_t apart; /* rows are kept for this thread; 0 = not by thread */
	bool is_known;
};

static void free_places(void *places)
{
	gp_host_places_free(places);
}

struct gp_host_places *gp_host_places_in(struct gp_scope *scope)
{
	if (!scope->host_places) {
		scope->host_places = gp_host_places_new();
		scope->free_host_places = free_places;
	}
	return scope->host_places;
}

/* The first sample of a thread that ends at that time or later. */
static uint32_t find_first(const struct gp_model *model, uint32_t thread, uint64_t time_ns)
{
	uint32_t low = 0, high = model->sample_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct gp_sample *sample = &model->samples[middle];

		if (sample->thread_id < thread ||
		    (sample->thread_id == thread && sample->end_ns < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct gp_model *model, uint32_t index, uint32_t thread)
{
	return index < model->sample_count && model->samples[index].thread_id == thread;
}

/* Consecutive, evenly spaced observations of one sample. */
struct run {
	uint64_t first, count, step_ns;
};

/* The observations of a sample that are in the window. */
static struct run samples_in(const struct gp_host_window *window, const struct gp_sample *sample)
{
	uint64_t start_ns = sample->start_ns, end_ns = sample->end_ns, last;
	struct run run = {.count = sample->count};

	run.step_ns = sample->count > 1 ? (end_ns - start_ns) / (sample->count - 1) : 0;
	if (start_ns >= window->end_ns || end_ns < window->start_ns)
		return (struct run){.step_ns = run.step_ns};
	if (run.step_ns == 0 || (start_ns >= window->start_ns && end_ns <= window->end_ns))
		return run;
	run.first = start_ns < window->start_ns
			    ? (window->start_ns - start_ns + run.step_ns - 1) / run.step_ns
			    : 0;
	last = ((end_ns < window->end_ns ? end_ns : window->end_ns - 1) - start_ns) / run.step_ns;
	if (last >= sample->count)
		last = sample->count - 1;
	run.count = run.first <= last ? last - run.first + 1 : 0;
	return run;
}

struct moment {
	uint32_t thread;
	uint64_t time_ns;
};

static bool starts_until(const void *element, const void *key)
{
	const struct gp_call *call = element;
	const struct moment *moment = key;

	return call->thread_id != moment->thread ? call->thread_id < moment->thread
						 : call->start_ns <= moment->time_ns;
}

static bool is_in_call(const struct gp_model *model, uint32_t thread, uint64_t time_ns)
{
	const struct moment moment = {thread, time_ns};
	uint32_t end = gp_array_lower_bound(model->calls, model->call_count, sizeof(*model->calls),
					    starts_until, &moment);

	/* calls may be nested */
	for (uint32_t i = 1; i <= MOST_NESTED && i <= end; i++) {
		const struct gp_call *call = &model->calls[end - i];

		if (call->thread_id == thread && gp_call_end_ns(call) >= time_ns)
			return true;
	}
	return false;
}

/*
 * The share of the sample's observations in the window that were outside calls; if none is in the
 * window, the nearest one decides. Of many, every nth is examined, MOST_EXAMINED at most.
 */
static double share_outside_calls(const struct gp_host_window *window,
				  const struct gp_sample *sample)
{
	struct run run = samples_in(window, sample);
	uint64_t outside = 0, examined = 0, stride;

	if (run.count == 0) {
		bool is_behind = sample->start_ns >= window->end_ns || sample->count == 0;

		run.first = is_behind ? 0 : sample->count - 1;
		run.count = 1;
	}
	stride = run.step_ns == 0 ? run.count : run.count / MOST_EXAMINED + 1;
	for (uint64_t i = 0; i < run.count; i += stride, examined++)
		outside += !is_in_call(window->model, sample->thread_id,
				       sample->start_ns + (run.first + i) * run.step_ns);
	return (double)outside / (double)examined;
}

/*
 * Whether observations of one stack that follow each other found the same instruction: those read
 * from recorded calls of functions do not have it.
 */
static bool knows_instruction(const struct gp_model *model)
{
	return model->function_interval_ns == 0;
}

/* The time from the first to the last observation of a sample, inside the window. */
static uint64_t stayed_in(const struct gp_host_window *window, const struct gp_sample *sample)
{
	uint64_t start_ns =
		sample->start_ns > window->start_ns ? sample->start_ns : window->start_ns;
	uint64_t end_ns = sample->end_ns < window->end_ns ? sample->end_ns : window->end_ns;

	return end_ns > start_ns && knows_instruction(window->model) ? end_ns - start_ns : 0;
}

static struct gp_tally_row *row_of(const struct window *window, uint32_t stack)
{
	const struct gp_host_window *in = &window->in;
	uint32_t place = gp_host_places_find(in->places, in->model, stack);

	return gp_tally_find(in->tally,
			     (const uint64_t[GP_TALLY_KEYS]){
				     [SUM] = in->sum, [PLACE] = place, [THREAD] = window->apart});
}

/* Add a sample; the thread stayed if several observations found the same instruction. */
static void add_looks(struct window *window, const struct gp_sample *sample)
{
	uint64_t samples = samples_in(&window->in, sample).count;
	struct gp_tally_row *row;

	if (samples == 0)
		return;
	row = row_of(window, sample->stack);
	row->sums[NS] += samples * GP_PYTHON_SAMPLE;
	row->sums[SAMPLES] += samples;
	if (sample->count > 1 && knows_instruction(window->in.model))
		row->sums[STAYED] += samples * GP_PYTHON_SAMPLE;
	window->is_known = true;
}

static void add_times(struct window *window, uint32_t index)
{
	const struct gp_host_window *in = &window->in;
	const struct gp_sample *sample = &in->model->samples[index];
	struct gp_sample_time time = gp_python_sample_time(in->model, index);
	uint64_t start_ns = time.start_ns > in->start_ns ? time.start_ns : in->start_ns;
	uint64_t end_ns = time.end_ns < in->end_ns ? time.end_ns : in->end_ns;
	double share = 1;
	struct gp_tally_row *row;

	if (end_ns <= start_ns)
		return;
	if (in->weight == GP_HOST_TIMES_OUTSIDE_CALLS)
		share = share_outside_calls(in, sample);
	if (share <= 0)
		return;
	row = row_of(window, sample->stack);
	row->sums[NS] += (uint64_t)((double)(end_ns - start_ns) * share);
	row->sums[SAMPLES] += (uint64_t)((double)samples_in(in, sample).count * share + 0.5);
	row->sums[STAYED] += (uint64_t)((double)stayed_in(in, sample) * share);
	window->is_known = true;
}

static void add_sample(struct window *window, uint32_t index)
{
	const struct gp_sample *sample = &window->in.model->samples[index];

	if (sample->stack == GP_NONE)
		return;
	if (window->in.weight == GP_HOST_LOOKS)
		add_looks(window, sample);
	else
		add_times(window, index);
}

static void look(struct window *window, uint32_t thread)
{
	const struct gp_host_window *in = &window->in;
	uint64_t reach_ns = in->weight == GP_HOST_LOOKS ? 0 : gp_python_sample_reach_ns(in->model);
	uint64_t from_ns = in->start_ns > reach_ns ? in->start_ns - reach_ns : 0;

	for (uint32_t i = find_first(in->model, thread, from_ns);
	     is_of(in->model, i, thread) && in->model->samples[i].start_ns < in->end_ns + reach_ns;
	     i++)
		add_sample(window, i);
}

bool gp_host_work_add(const struct gp_host_window *in, uint32_t thread)
{
	struct window window = {.in = *in};

	look(&window, thread);
	return window.is_known;
}

bool gp_host_work_knows(const struct gp_model *model, uint32_t thread)
{
	return is_of(model, find_first(model, thread, 0), thread);
}

void gp_host_work_add_others(const struct gp_host_window *in, uint32_t thread)
{
	const struct gp_model *model = in->model;
	struct window window = {.in = *in};

	for (uint32_t i = 0; i < model->sample_count;) {
		uint32_t other = model->samples[i].thread_id;

		window.apart = other;
		if (other != thread)
			look(&window, other);
		i = other < UINT32_MAX ? find_first(model, other + 1, 0) : model->sample_count;
	}
}

void gp_host_work_add_all(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			  const struct gp_model *model)
{
	struct window window = {.in = {tally, sum, places, model, 0, UINT64_MAX, GP_HOST_TIMES}};

	for (uint32_t i = 0; i < model->sample_count; i++)
		add_sample(&window, i);
}

void gp_host_work_subtract(struct gp_tally *tally, uint64_t sum, struct gp_tally *usual,
			   double times)
{
	for (uint32_t i = 0; i < tally->count; i++) {
		struct gp_tally_row *row = &tally->rows[i];
		const uint64_t key[GP_TALLY_KEYS] = {
			[PLACE] = row->key[PLACE], [THREAD] = row->key[THREAD]};
		const struct gp_tally_row *of;

		if (row->key[SUM] != sum)
			continue;
		of = gp_tally_find(usual, key);
		for (size_t k = NS; k <= STAYED; k++) {
			uint64_t part = (uint64_t)((double)of->sums[k] * times + 0.5);

			row->sums[k] -= part < row->sums[k] ? part : row->sums[k];
		}
	}
}

void gp_host_work_move(struct gp_tally *tally, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < tally->count; i++) {
		struct gp_tally_row row = tally->rows[i], *moved;

		if (row.key[SUM] != from)
			continue;
		row.key[SUM] = to;
		moved = gp_tally_find(tally, row.key);
		for (size_t k = NS; k <= STAYED; k++) {
			moved->sums[k] += row.sums[k];
			tally->rows[i].sums[k] = 0;
		}
	}
}

/* ---- functions ---- */

bool gp_host_function_has_line(const struct gp_host_function *function)
{
	return function->line_ns * 2 >= function->total_ns;
}

bool gp_host_function_has_what(const struct gp_host_function *function,
			       const struct gp_host_place *place)
{
	return *place->what &&
	       (gp_host_place_has_verb(place) || function->place_ns * 2 > function->total_ns);
}

bool gp_host_function_stays(const struct gp_host_function *function)
{
	return function->stayed_ns * 4 >= function->total_ns * 3;
}

static int by_time(const void *a, const void *b)
{
	const struct gp_host_function *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

/* A query: one sum, of one thread or of all threads. */
#define ALL_THREADS UINT64_MAX
struct question {
	const struct gp_tally *tally;
	const struct gp_host_places *places;
	uint64_t sum, thread;
};

static bool is_asked(const struct question *question, const struct gp_tally_row *row)
{
	return row->key[SUM] == question->sum &&
	       (question->thread == ALL_THREADS || row->key[THREAD] == question->thread);
}

/* The row of a tally of lines that a place belongs to. */
static uint32_t line_of(struct gp_tally *lines, const struct gp_host_places *places,
			const struct gp_tally_row *row)
{
	struct gp_host_place place = gp_host_places_at(places, (uint32_t)row->key[PLACE]);
	const uint64_t key[GP_TALLY_KEYS] = {place.function_number, place.own_number};
	const struct gp_tally_row *line = gp_tally_find(lines, key);

	return (uint32_t)(line - lines->rows);
}

static void add_row(struct gp_host_function *line, const struct gp_tally_row *row)
{
	line->total_ns += row->sums[NS];
	line->line_ns = line->total_ns;
	line->samples += row->sums[SAMPLES];
	line->stayed_ns += row->sums[STAYED];
	if (row->sums[NS] > line->place_ns) {
		line->place_ns = row->sums[NS];
		line->place = (uint32_t)row->key[PLACE];
	}
}

/* The lines, in the order in which they were first found; NULL: no memory. */
static struct gp_host_function *list_lines(const struct question *question, uint32_t *count)
{
	const struct gp_tally *tally = question->tally;
	struct gp_host_function *list = NULL;
	struct gp_tally lines = {0};

	for (uint32_t i = 0; i < tally->count; i++)
		if (is_asked(question, &tally->rows[i]))
			line_of(&lines, question->places, &tally->rows[i]);
	*count = lines.count;
	if (lines.error == 0)
		list = calloc((size_t)lines.count + 1, sizeof(*list));
	for (uint32_t i = 0; list && i < tally->count; i++)
		if (is_asked(question, &tally->rows[i]))
			add_row(&list[line_of(&lines, question->places, &tally->rows[i])],
				&tally->rows[i]);
	gp_tally_free(&lines);
	return list;
}

static void add_line(struct gp_host_function *function, const struct gp_host_function *line)
{
	struct gp_host_function best = line->total_ns > function->line_ns ? *line : *function;

	best.total_ns = function->total_ns + line->total_ns;
	best.samples = function->samples + line->samples;
	best.stayed_ns = function->stayed_ns + line->stayed_ns;
	*function = best;
}

/* Keep the functions with any time, and sort them by it. */
static void order(struct gp_host_function *functions, uint32_t all, uint32_t *count)
{
	*count = 0;
	for (uint32_t i = 0; i < all; i++)
		if (functions[i].total_ns > 0)
			functions[(*count)++] = functions[i];
	qsort(functions, *count, sizeof(*functions), by_time);
}

static struct gp_host_function *functions_of(const struct question *question, uint32_t *count)
{
	uint32_t all = gp_host_places_functions(question->places), line_count;
	struct gp_host_function *functions = calloc((size_t)all + 1, sizeof(*functions));
	struct gp_host_function *lines = list_lines(question, &line_count);

	*count = 0;
	if (functions && lines) {
		for (uint32_t i = 0; i < line_count; i++)
			add_line(&functions[gp_host_places_at(question->places, lines[i].place)
						    .function_number],
				 &lines[i]);
		order(functions, all, count);
	} else {
		free(functions);
		functions = NULL;
	}
	free(lines);
	return functions;
}

struct gp_host_function *gp_host_work_functions(const struct gp_tally *tally, uint64_t sum,
						const struct gp_host_places *places,
						uint32_t *count)
{
	const struct question question = {tally, places, sum, ALL_THREADS};

	return functions_of(&question, count);
}

struct gp_host_function *gp_host_work_lines(const struct gp_tally *tally, uint64_t sum,
					    const struct gp_host_places *places, uint32_t *count)
{
	const struct question question = {tally, places, sum, ALL_THREADS};
	struct gp_host_function *lines = list_lines(&question, count);

	if (lines)
		order(lines, *count, count);
	return lines;
}

/* ---- the line with most of a sum ---- */

struct spots {
	struct gp_tally lines, functions; /* NS, and one of its places */
	uint64_t all_ns;
};

static void add_spot(struct gp_tally *spots, uint64_t number, const struct gp_tally_row *row)
{
	struct gp_tally_row *spot = gp_tally_find(spots, (const uint64_t[GP_TALLY_KEYS]){number});

	spot->sums[NS] += row->sums[NS];
	spot->sums[PLACE] = row->key[PLACE];
}

/* The row with at least half of the time, or NULL. */
static const struct gp_tally_row *most_of(const struct gp_tally *spots, uint64_t all_ns)
{
	for (uint32_t i = 0; i < spots->count; i++)
		if (spots->rows[i].sums[NS] * 2 >= all_ns)
			return &spots->rows[i];
	return NULL;
}

static struct gp_host_spot spot_of(const struct spots *spots, const struct gp_host_places *places)
{
	const struct gp_tally_row *line = most_of(&spots->lines, spots->all_ns);
	const struct gp_tally_row *most = line ? line : most_of(&spots->functions, spots->all_ns);
	struct gp_host_place place;

	if (!most || spots->lines.error != 0 || spots->functions.error != 0)
		return (struct gp_host_spot){.text = "", .all_ns = spots->all_ns};
	place = gp_host_places_at(places, (uint32_t)most->sums[PLACE]);
	return (struct gp_host_spot){line ? place.own : place.own_function, line != NULL,
				     most->sums[NS], spots->all_ns};
}

struct gp_host_spot gp_host_work_spot(const struct gp_tally *tally, uint64_t sum,
				      const struct gp_host_places *places)
{
	const struct question question = {tally, places, sum, ALL_THREADS};
	struct spots spots = {0};
	struct gp_host_spot spot;

	for (uint32_t i = 0; i < tally->count; i++) {
		const struct gp_tally_row *row = &tally->rows[i];
		struct gp_host_place place;

		if (!is_asked(&question, row))
			continue;
		place = gp_host_places_at(places, (uint32_t)row->key[PLACE]);
		spots.all_ns += row->sums[NS];
		add_spot(&spots.lines, place.own_number, row);
		add_spot(&spots.functions, place.own_function_number, row);
	}
	spot = spot_of(&spots, places);
	gp_tally_free(&spots.lines);
	gp_tally_free(&spots.functions);
	return spot;
}

/* ---- threads ---- */

static bool waits_at(const struct gp_host_places *places, uint64_t place)
{
	struct gp_host_place at = gp_host_places_at(places, (uint32_t)place);

	return gp_host_place_waits(&at);
}

/* A row for each thread that did not only wait: its time without waiting. */
static struct gp_tally threads_of(const struct gp_tally *tally, uint64_t sum,
				  const struct gp_host_places *places)
{
	struct gp_tally threads = {0};

	for (uint32_t i = 0; i < tally->count; i++) {
		const struct gp_tally_row *row = &tally->rows[i];

		if (row->key[SUM] == sum && !waits_at(places, row->key[PLACE]))
			gp_tally_find(&threads, (const uint64_t[GP_TALLY_KEYS]){row->key[THREAD]})
				->sums[NS] += row->sums[NS];
	}
	return threads;
}

static const struct gp_tally_row *find_busiest(const struct gp_tally *threads)
{
	const struct gp_tally_row *best = &threads->rows[0];

	for (uint32_t i = 1; i < threads->count; i++)
		if (threads->rows[i].sums[NS] > best->sums[NS])
			best = &threads->rows[i];
	return best;
}

/* The thread's function with the most time that does not wait; false: none, or no memory. */
static bool find_work(const struct gp_tally *tally, uint64_t sum, uint64_t thread,
		      const struct gp_host_places *places, struct gp_host_function *function)
{
	const struct question question = {tally, places, sum, thread};
	uint32_t count, i = 0;
	struct gp_host_function *functions = functions_of(&question, &count);
	bool is_found;

	while (i < count && waits_at(places, functions[i].place))
		i++;
	is_found = i < count;
	if (is_found)
		*function = functions[i];
	free(functions);
	return is_found;
}

uint32_t gp_host_work_busiest(const struct gp_tally *tally, uint64_t sum,
			      const struct gp_host_places *places,
			      struct gp_host_function *function)
{
	struct gp_tally threads = threads_of(tally, sum, places);
	uint32_t count = threads.error == 0 ? threads.count : 0;

	if (count > 0 && !find_work(tally, sum, find_busiest(&threads)->key[0], places, function))
		count = 0;
	gp_tally_free(&threads);
	return count;
}

void gp_host_function_print(FILE *out, const struct gp_host_places *places,
			    const struct gp_host_function *function)
{
	struct gp_host_place place = gp_host_places_at(places, function->place);
	bool is_verb = gp_host_place_has_verb(&place);
	bool has_what = gp_host_function_has_what(function, &place) || !*place.own;

	if (!gp_host_function_has_line(function))
		fprintf(out, "%s%s", is_verb ? "" : "in ", place.function);
	else
		fprintf(out, "%s%s%s%s", is_verb ? "" : "in ", has_what ? place.what : "",
			!has_what || !*place.own ? ""
			: is_verb                ? " at "
						 : " < ",
			place.own);
}

void gp_host_function_print_time(FILE *out, const struct gp_host_places *places,
				 const struct gp_host_function *function)
{
	struct gp_figure all = gp_format_ns_about(function->total_ns),
			 line = gp_format_ns_about(function->line_ns);

	gp_host_function_print(out, places, function);
	if (!gp_host_function_has_line(function) || strcmp(all.text, line.text) == 0)
		fprintf(out, " for %s", all.text);
	else
		fprintf(out, " for %s (all lines: %s)", line.text, all.text);
}

void gp_host_function_print_count(FILE *out, const struct gp_host_places *places,
				  const struct gp_host_function *function)
{
	uint64_t all = function->total_ns / GP_PYTHON_SAMPLE;
	uint64_t told =
		gp_host_function_has_line(function) ? function->line_ns / GP_PYTHON_SAMPLE : all;

	gp_host_function_print(out, places, function);
	if (told == 1)
		fputs(" once", out);
	else
		fprintf(out, " %s times", gp_format_count(told).text);
	if (told < all)
		fprintf(out, " (all lines: %s)", gp_format_count(all).text);
}

void gp_host_work_add_samples(struct gp_python_samples *samples, const struct gp_model *model)
{
	const uint64_t *counters = model->counters;

	samples->all += counters[GP_COUNTER_SAMPLES] + counters[GP_COUNTER_SAMPLES_LOST];
	samples->lost += counters[GP_COUNTER_SAMPLES_LOST];
	samples->outside += counters[GP_COUNTER_SAMPLES_OUTSIDE];
}

bool gp_host_work_is_much(uint64_t samples, const struct gp_python_samples *of)
{
	return samples > 0 && samples * MUCH >= of->all - of->lost;
}
