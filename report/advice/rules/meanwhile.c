#include "report/advice/rules/meanwhile.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/base/text/format.h"
#include "report/tables/host_work.h"

/* In the numbers of sums: that of other threads than the one that the GPU waited for. */
#define OTHERS (UINT64_C(1) << 32)

/* That are named: those with a twentieth of the longest one's time at least. */
#define MOST_FUNCTIONS 3

/* Of fewer no shares are told: they say where the host was, and not for how long. */
#define LEAST_LOOKS 10u

/* What a compiler took is no reason for more than so many times that. */
#define LEAST_PART 5

static uint64_t since_base(const struct gp_model *model, uint64_t unix_ns)
{
	return unix_ns > model->base_unix_ns ? unix_ns - model->base_unix_ns : 0;
}

/* What is added to a case. */
enum what { TIMES, OWN_TIMES, LOOKS };

static bool add_thread(struct gp_advisor *advisor, uint64_t sum, enum what what, uint32_t thread,
		       const struct gp_interval *time)
{
	struct gp_host_places *places = advisor->scope.host_places;

	if (what == LOOKS)
		return gp_host_work_add_within(&advisor->host_work, sum, places, advisor->model,
					       thread, time->start_ns, time->end_ns);
	if (what == OWN_TIMES)
		return gp_host_work_add_own(&advisor->host_work, sum, places, advisor->model,
					    thread, time->start_ns, time->end_ns);
	return gp_host_work_add_of(&advisor->host_work, sum, places, advisor->model, thread,
				   time->start_ns, time->end_ns);
}

static void add_others(struct gp_advisor *advisor, uint64_t sum, enum what what, uint32_t thread,
		       const struct gp_interval *time)
{
	struct gp_host_places *places = advisor->scope.host_places;

	if (what == LOOKS)
		gp_host_work_add_others_within(&advisor->host_work, OTHERS | sum, places,
					       advisor->model, thread, time->start_ns,
					       time->end_ns);
	else
		gp_host_work_add_others(&advisor->host_work, OTHERS | sum, places, advisor->model,
					thread, time->start_ns, time->end_ns);
}

static bool add_of(struct gp_advisor *advisor, const struct gp_case *found, enum what what,
		   uint32_t thread, const struct gp_interval *times, uint32_t count)
{
	uint64_t sum = (uint64_t)(found - advisor->cases);
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		if (!add_thread(advisor, sum, what, thread, &times[i]))
			continue;
		any = true;
		add_others(advisor, sum, what, thread, &times[i]);
	}
	if (advisor->host_work.error < 0)
		advisor->error = advisor->host_work.error;
	return any;
}

static bool add(struct gp_advisor *advisor, const struct gp_case *found, enum what what,
		uint32_t thread, const struct gp_interval *times, uint32_t count)
{
	const struct gp_model *model = advisor->model;

	if (model->sample_count == 0 || !gp_host_places_in(&advisor->scope) ||
	    found == &advisor->spare)
		return false;
	if (what == LOOKS && gp_host_work_knows(model, thread))
		return add_of(advisor, found, what, thread, times, count);
	return add_of(advisor, found, what, thread, times, count) ||
	       add_of(advisor, found, what, model->pid, times, count);
}

bool gp_meanwhile_add_times(struct gp_advisor *advisor, const struct gp_case *found,
			    uint32_t thread, const struct gp_interval *times, uint32_t count)
{
	return add(advisor, found, TIMES, thread, times, count);
}

bool gp_meanwhile_add_time(struct gp_advisor *advisor, const struct gp_case *found, uint32_t thread,
			   uint64_t start_ns, uint64_t end_ns)
{
	return add(advisor, found, OWN_TIMES, thread, &(struct gp_interval){start_ns, end_ns}, 1);
}

bool gp_meanwhile_add_looks(struct gp_advisor *advisor, const struct gp_case *found,
			    uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	return add(advisor, found, LOOKS, thread, &(struct gp_interval){start_ns, end_ns}, 1);
}

bool gp_meanwhile_add(struct gp_advisor *advisor, const struct gp_case *found,
		      const struct gp_idle_gap_at *at, uint64_t end_unix_ns)
{
	return gp_meanwhile_add_time(advisor, found, at->call_after->thread_id,
				     since_base(advisor->model, at->idle_gap->start_ns),
				     since_base(advisor->model, end_unix_ns));
}

/*
 * What the looks found at the host for this finding, longest first, which the caller frees; NULL
 * where nothing looked.
 */
static struct gp_host_function *functions_of(const struct gp_advisor *advisor,
					     const struct gp_case *found, uint32_t *count)
{
	*count = 0;
	if (!advisor->scope.host_places)
		return NULL;
	return gp_host_work_functions(&advisor->host_work, (uint64_t)(found - advisor->cases),
				      advisor->scope.host_places, count);
}

/*
 * What the functions of a finding come to: how long, how much of that was waiting, and for another
 * thread; how much of it at one instruction.
 */
struct sums {
	uint64_t time_ns, waiting_ns, for_threads_ns, stayed_ns, looks;
};

static struct sums sums_of(const struct gp_host_places *places,
			   const struct gp_host_function *functions, uint32_t count)
{
	struct sums sums = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct gp_host_place place = gp_host_places_at(places, functions[i].place);
		uint64_t ns = functions[i].total_ns;

		sums.time_ns += ns;
		sums.looks += functions[i].looks;
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
 * What another thread of Python's did for a quarter of that time or more, and no waiting: of how
 * many it is the busiest; 0: there is none.  Of one that waits for a process, or for what comes
 * from outside, it matters not.
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
	return count > 0 && other->total_ns * 4 >= own->time_ns ? count : 0;
}

/* Whether the thread waits for another one, and looks found that all others waited. */
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

/* How a function and its part of a sum are printed. */
typedef void print_function(FILE *out, const struct gp_host_places *places,
			    const struct gp_host_function *function);

/* What is told of a case. */
struct story {
	const struct gp_host_places *places;
	print_function *print;
	struct gp_host_function *functions, other;
	uint32_t count, others; /* other is the busiest of so many; 0: none is told of */
	bool all_wait;          /* this thread for another one, and the others, too */
	struct sums own;
};

/*
 * Whether it held the interpreter then, no look tells: some functions let others run.  But it does
 * not where it stays at one instruction, in a call of what is not Python's (time.sleep, a read),
 * nor has it kept one from running that waits.
 */
static void tell_other(const struct story *story, FILE *out)
{
	fputs("another thread", out);
	if (story->others > 1)
		fprintf(out, ", the busiest of %s,", gp_format_count(story->others).text);
	fputs(" was ", out);
	story->print(out, story->places, &story->other);
	fputs(gp_host_function_stays(&story->other)
		      ? ", at the same instruction from sample to sample (a call that takes long, or a short loop)"
	      : waits(&story->own) ? ""
				   : ", which may have kept it from running",
	      out);
}

static bool is_named(const struct gp_host_function *functions, uint32_t index)
{
	return index < MOST_FUNCTIONS && functions[index].total_ns * 20 >= functions[0].total_ns;
}

static void tell_own(const struct story *story, FILE *out)
{
	for (uint32_t i = 0; i < story->count && is_named(story->functions, i); i++) {
		fputs(i == 0 ? "the host was " : "; ", out);
		story->print(out, story->places, &story->functions[i]);
	}
}

/* What the thread waits for comes first: the rest goes where there is no room. */
static uint64_t tell(const struct gp_advisor *advisor, const struct gp_case *found,
		     print_function *print, FILE *out)
{
	struct story story = {.places = advisor->scope.host_places, .print = print};
	bool is_for_other;

	story.functions = functions_of(advisor, found, &story.count);
	story.own = sums_of(story.places, story.functions, story.count);
	if (story.count == 0) {
		free(story.functions);
		return 0;
	}
	if (story.own.looks > 0)
		story.others = find_other(advisor, found, &story.own, &story.other);
	story.all_wait = waits_with_others(advisor, found, &story.own);
	is_for_other = story.others > 0 && waits(&story.own);
	fputs("; meanwhile", out);
	if (print == gp_host_function_print_count)
		fprintf(out, ", by %s sample%s,", gp_format_count(story.own.looks).text,
			story.own.looks == 1 ? "" : "s");
	fputs(" ", out);
	if (is_for_other) {
		tell_other(&story, out);
		fputs("; ", out);
	}
	tell_own(&story, out);
	if (story.others > 0 && !is_for_other) {
		fputs("; ", out);
		tell_other(&story, out);
	}
	if (story.all_wait)
		fputs("; all other Python threads waited, too, for example for a process or for external data",
		      out);
	free(story.functions);
	return story.own.looks;
}

uint64_t gp_meanwhile_tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	return tell(advisor, found, gp_host_function_print_time, out);
}

void gp_meanwhile_tell_counts(const struct gp_advisor *advisor, const struct gp_case *found,
			      FILE *out)
{
	tell(advisor, found, gp_host_function_print_count, out);
}

/* Of a thread that no look found waiting. */
static bool polls(const struct gp_advisor *advisor, const struct gp_case *found,
		  const struct sums *own)
{
	struct gp_host_function other;

	return own->stayed_ns * 4 >= own->time_ns * 3 &&
	       find_other(advisor, found, own, &other) > 0 && gp_host_function_stays(&other);
}

enum gp_wait gp_meanwhile_wait(const struct gp_advisor *advisor, const struct gp_case *found)
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

/* What took half of what is known. */
static enum gp_compiler find_compiler(const struct gp_advisor *advisor, const struct gp_case *found,
				      uint64_t *ns, uint64_t *looks)
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
	*looks = sums.looks;
	free(functions);
	return compiler;
}

enum gp_compiler gp_meanwhile_compiler(const struct gp_advisor *advisor,
				       const struct gp_case *found)
{
	uint64_t ns, looks;
	enum gp_compiler compiler = find_compiler(advisor, found, &ns, &looks);

	return ns * LEAST_PART >= found->time_ns ? compiler : GP_COMPILER_NONE;
}

enum gp_compiler gp_meanwhile_compiler_by_looks(const struct gp_advisor *advisor,
						const struct gp_case *found)
{
	uint64_t ns, looks;
	enum gp_compiler compiler = find_compiler(advisor, found, &ns, &looks);

	return looks >= LEAST_LOOKS ? compiler : GP_COMPILER_NONE;
}

void gp_meanwhile_tell_shares(const struct gp_advisor *advisor, const struct gp_case *found,
			      const char *when, FILE *out)
{
	const struct gp_host_places *places = advisor->scope.host_places;
	uint32_t count, told = 0;
	struct gp_host_function *functions = functions_of(advisor, found, &count);
	struct sums sums = sums_of(places, functions, count);

	for (uint32_t i = 0; i < count && is_named(functions, i); i++) {
		uint64_t told_ns; /* of the line, where one is named */

		if (functions[i].looks == 0) /* it is near to such a time */
			continue;
		if (told++ == 0)
			fprintf(out, "; by %s sample%s %s the host was ",
				gp_format_count(sums.looks).text, sums.looks == 1 ? "" : "s", when);
		else
			fputs("; ", out);
		gp_host_function_print(out, places, &functions[i]);
		if (sums.looks < LEAST_LOOKS)
			continue;
		told_ns = gp_host_function_has_line(&functions[i]) ? functions[i].line_ns
								   : functions[i].total_ns;
		fprintf(out, " for %s %%%s",
			gp_format_percent((double)told_ns, (double)sums.time_ns).text,
			told == 1 ? " of the time" : "");
	}
	free(functions);
}

void gp_meanwhile_tell_looks(const struct gp_advisor *advisor, const struct gp_case *found,
			     uint64_t count, FILE *out)
{
	struct gp_python_samples looks = {0};

	if (count == 0)
		return;
	fprintf(out, "; told by %s sample%s of Python's stack", gp_format_count(count).text,
		count == 1 ? "" : "s");
	gp_host_work_add_looks(&looks, advisor->scope.models[found->process]);
	if (gp_host_work_is_much(looks.lost, &looks))
		fprintf(out, " (%s of the process's %s found none)",
			gp_format_count(looks.lost).text, gp_format_count(looks.all).text);
}
