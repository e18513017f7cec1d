#include "report/host_work.h"

#include <stdlib.h>

#include "report/host_looks.h"

#define MUCH 20 /* one of so many that found a stack */

/* In a tally: the keys and the sums of a row. */
enum { SUM, PLACE, THREAD };
enum { NS, LOOKS, STAYED };

struct window {
	uint64_t start_ns, end_ns;
	struct gp_tally *tally;
	uint64_t sum;
	uint32_t apart; /* the thread whose time is a sum of its own; 0: it is not */
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

/* Of looks that come in even steps, those within. */
static uint64_t looks_in(const struct window *window, const struct gp_sample *sample)
{
	uint64_t start_ns = sample->start_ns, end_ns = sample->end_ns;
	uint64_t all_ns = end_ns - start_ns;

	if (start_ns >= window->end_ns || end_ns < window->start_ns)
		return 0;
	start_ns = start_ns > window->start_ns ? start_ns : window->start_ns;
	end_ns = end_ns < window->end_ns ? end_ns : window->end_ns;
	if (end_ns - start_ns == all_ns)
		return sample->count;
	return (uint64_t)((double)sample->count * (double)(end_ns - start_ns) / (double)all_ns +
			  0.5);
}

/* From the first of looks that found the same to the last. */
static uint64_t stayed_in(const struct window *window, const struct gp_sample *sample)
{
	uint64_t start_ns =
		sample->start_ns > window->start_ns ? sample->start_ns : window->start_ns;
	uint64_t end_ns = sample->end_ns < window->end_ns ? sample->end_ns : window->end_ns;

	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void add_sample(struct window *window, struct gp_host_places *places,
		       const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];
	struct gp_host_time time = gp_host_look_time(model, index);
	uint64_t start_ns = time.start_ns > window->start_ns ? time.start_ns : window->start_ns;
	uint64_t end_ns = time.end_ns < window->end_ns ? time.end_ns : window->end_ns;
	struct gp_tally_row *row;

	if (sample->stack == GP_NONE || end_ns <= start_ns)
		return;
	row = gp_tally_find(window->tally,
			    (const uint64_t[GP_TALLY_KEYS]){
				    [SUM] = window->sum,
				    [PLACE] = gp_host_places_find(places, model, sample->stack),
				    [THREAD] = window->apart});
	row->sums[NS] += end_ns - start_ns;
	row->sums[LOOKS] += looks_in(window, sample);
	row->sums[STAYED] += stayed_in(window, sample);
	window->is_known = true;
}

static void look(struct window *window, struct gp_host_places *places, const struct gp_model *model,
		 uint32_t thread)
{
	uint64_t reach_ns = window->start_ns > GP_HOST_LOOK_REACH_NS
				    ? window->start_ns - GP_HOST_LOOK_REACH_NS
				    : 0;

	for (uint32_t i = find_first(model, thread, reach_ns);
	     is_of(model, i, thread) &&
	     model->samples[i].start_ns < window->end_ns + GP_HOST_LOOK_REACH_NS;
	     i++)
		add_sample(window, places, model, i);
}

bool gp_host_work_add(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
		      const struct gp_model *model, uint32_t *thread, uint64_t start_ns,
		      uint64_t end_ns)
{
	struct window window = {.start_ns = start_ns, .end_ns = end_ns, .tally = tally, .sum = sum};

	look(&window, places, model, *thread);
	if (window.is_known)
		return true;
	*thread = model->pid;
	look(&window, places, model, *thread);
	return window.is_known;
}

/* Of a run of equal looks so much as falls into the window: nothing else was done there meanwhile. */
static uint64_t ns_within(const struct window *window, const struct gp_sample *sample)
{
	uint64_t all_ns = sample->end_ns - sample->start_ns;

	if (all_ns == 0)
		return sample->start_ns >= window->start_ns && sample->start_ns < window->end_ns
			       ? GP_HOST_LOOK
			       : 0;
	return (uint64_t)((double)stayed_in(window, sample) / (double)all_ns *
			  (double)(sample->count - 1) * GP_HOST_LOOK);
}

void gp_host_work_add_within(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			     const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns)
{
	const struct window window = {.start_ns = start_ns, .end_ns = end_ns};

	for (uint32_t i = find_first(model, thread, start_ns);
	     is_of(model, i, thread) && model->samples[i].start_ns < end_ns; i++) {
		const struct gp_sample *sample = &model->samples[i];
		uint64_t ns = sample->stack == GP_NONE ? 0 : ns_within(&window, sample);

		if (ns > 0)
			gp_tally_find(tally,
				      (const uint64_t[GP_TALLY_KEYS]){
					      [SUM] = sum,
					      [PLACE] = gp_host_places_find(places, model,
									    sample->stack)})
				->sums[NS] += ns;
	}
}

void gp_host_work_add_others(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			     const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns)
{
	struct window window = {.start_ns = start_ns, .end_ns = end_ns, .tally = tally, .sum = sum};

	for (uint32_t i = 0; i < model->sample_count;) {
		uint32_t other = model->samples[i].thread_id;

		window.apart = other;
		if (other != thread)
			look(&window, places, model, other);
		i = other < UINT32_MAX ? find_first(model, other + 1, 0) : model->sample_count;
	}
}

void gp_host_work_add_all(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			  const struct gp_model *model)
{
	struct window window = {.end_ns = UINT64_MAX, .tally = tally, .sum = sum};

	for (uint32_t i = 0; i < model->sample_count; i++)
		add_sample(&window, places, model, i);
}

/* ---- functions ---- */

static void add_row(struct gp_host_function *functions, const struct gp_host_places *places,
		    const struct gp_tally_row *row)
{
	uint32_t place = (uint32_t)row->key[PLACE];
	struct gp_host_function *function =
		&functions[gp_host_places_at(places, place).function_number];

	function->total_ns += row->sums[NS];
	function->looks += row->sums[LOOKS];
	function->stayed_ns += row->sums[STAYED];
	if (row->sums[NS] > function->place_ns) {
		function->place_ns = row->sums[NS];
		function->place = place;
	}
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

/* Those of a thread, or of all. */
#define ALL_THREADS UINT64_MAX
static struct gp_host_function *functions_of(const struct gp_tally *tally, uint64_t sum,
					     uint64_t thread, const struct gp_host_places *places,
					     uint32_t *count)
{
	uint32_t all = gp_host_places_functions(places);
	struct gp_host_function *functions = calloc((size_t)all + 1, sizeof(*functions));

	*count = 0;
	if (!functions)
		return NULL;
	for (uint32_t i = 0; i < tally->count; i++)
		if (tally->rows[i].key[SUM] == sum &&
		    (thread == ALL_THREADS || tally->rows[i].key[THREAD] == thread))
			add_row(functions, places, &tally->rows[i]);
	for (uint32_t i = 0; i < all; i++)
		if (functions[i].total_ns > 0)
			functions[(*count)++] = functions[i];
	qsort(functions, *count, sizeof(*functions), by_time);
	return functions;
}

struct gp_host_function *gp_host_work_functions(const struct gp_tally *tally, uint64_t sum,
						const struct gp_host_places *places,
						uint32_t *count)
{
	return functions_of(tally, sum, ALL_THREADS, places, count);
}

/* ---- threads ---- */

static bool waits_at(const struct gp_host_places *places, uint64_t place)
{
	struct gp_host_place at = gp_host_places_at(places, (uint32_t)place);

	return gp_host_place_waits(&at);
}

/* A row for each thread that did anything but wait, with that time. */
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

/* Of those of a thread the first that is no waiting, of which there is one. */
static bool find_work(const struct gp_tally *tally, uint64_t sum, uint64_t thread,
		      const struct gp_host_places *places, struct gp_host_function *function)
{
	uint32_t count, i = 0;
	struct gp_host_function *functions = functions_of(tally, sum, thread, places, &count);
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
	bool has_what = *place.what &&
			(is_verb || !*place.own || function->place_ns * 2 > function->total_ns);

	fprintf(out, "%s%s%s%s", is_verb ? "" : "in ", has_what ? place.what : "",
		!has_what || !*place.own ? ""
		: is_verb                ? " at "
					 : " < ",
		place.own);
}

void gp_host_work_add_looks(struct gp_host_looks *looks, const struct gp_model *model)
{
	const uint64_t *counters = model->counters;

	looks->all += counters[GP_COUNTER_SAMPLES] + counters[GP_COUNTER_SAMPLES_LOST];
	looks->lost += counters[GP_COUNTER_SAMPLES_LOST];
	looks->outside += counters[GP_COUNTER_SAMPLES_OUTSIDE];
}

bool gp_host_work_is_much(uint64_t looks, const struct gp_host_looks *of)
{
	return looks > 0 && looks * MUCH >= of->all - of->lost;
}
