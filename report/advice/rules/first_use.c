/*
 * Code that is loaded when it is first used.  Speaks where loading code kept the GPU idle, between
 * its first operation and its last, for 3 % of the recorded time and 20 ms in all.  It names the
 * line of the program with most of it; where there is none, the place.
 */
#include "report/advice/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/code.h"

struct own {
	uint64_t places;   /* where code was loaded */
	uint64_t place_ns; /* of the case's site */
};

/* A look-up that takes that long loads what it looks up. */
#define LOOK_UP_NS 100000u

static bool is_load(const struct gp_model *model, const struct gp_call *call)
{
	const char *name = gp_model_api(model, call->api).name;

	return strstr(name, "Load") || (call->duration_ns >= LOOK_UP_NS && !strstr(name, "Unload"));
}

/* ---- the places ---- */

struct place {
	uint32_t site;
	uint64_t ns;
};

struct places {
	struct place *rows; /* a load each, then a site each */
	uint32_t count, capacity;
};

static void note_place(struct gp_advisor *advisor, struct places *places, struct place place)
{
	if (advisor->error == 0)
		advisor->error = gp_array_grow(&places->rows, &places->capacity, places->count,
					       sizeof(place));
	if (advisor->error == 0)
		places->rows[places->count++] = place;
}

static int compare_sites(const void *a, const void *b, const void *context)
{
	const struct place *left = a, *right = b;

	(void)context;
	return (left->site > right->site) - (left->site < right->site);
}

static void join_places(struct places *places)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < places->count; i++) {
		if (count > 0 && places->rows[count - 1].site == places->rows[i].site)
			places->rows[count - 1].ns += places->rows[i].ns;
		else
			places->rows[count++] = places->rows[i];
	}
	places->count = count;
}

/* The user's lines first, for these can be changed; then what has most. */
static bool is_better(const struct gp_advisor *advisor, const struct place *left,
		      const struct place *right)
{
	bool own = gp_call_sites_at(advisor->sites, left->site).is_own;

	if (own != gp_call_sites_at(advisor->sites, right->site).is_own)
		return own;
	return left->ns > right->ns;
}

static void put_place(struct gp_advisor *advisor, struct places *places)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	struct own *own = found->own;
	uint32_t best = 0;

	advisor->error = gp_array_sort(places->rows, places->count, sizeof(*places->rows),
				       compare_sites, NULL);
	if (advisor->error != 0)
		return;
	join_places(places);
	for (uint32_t i = 1; i < places->count; i++)
		if (is_better(advisor, &places->rows[i], &places->rows[best]))
			best = i;
	found->site = places->rows[best].site;
	own->place_ns = places->rows[best].ns;
	own->places = places->count;
}

/* Going through the loads, thread by thread. */
struct loading {
	struct places places;
	const struct gp_call *last;        /* that is within no other; NULL at first */
	const struct gp_idle_gap *present; /* in which its thread loads, so much until now */
	uint64_t present_ns;
};

/* NCCL loads its code while it makes communicators: that is told. */
static bool is_told(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap)
{
	return idle_gap->told != GP_NONE &&
	       gp_rules[advisor->cases[idle_gap->told].rule] == &gp_rule_start_up;
}

/* A load that no other called. */
static void weigh(struct gp_advisor *advisor, struct loading *loading, const struct gp_call *call)
{
	uint16_t device = gp_model_context_device(advisor->model, call->context_id);
	struct gp_idle_gap *idle_gap =
		gp_advisor_idle_gap_at(advisor, device, call->start_ns + call->duration_ns / 2);
	uint64_t idle_ns =
		idle_gap ? call->duration_ns - gp_advisor_busy_ns(advisor, device, call->start_ns,
								  gp_call_end_ns(call))
			 : 0;
	struct gp_case *found;

	if (idle_ns == 0 || is_told(advisor, idle_gap) || gp_call_compiles(advisor->model, call))
		return;
	idle_ns = gp_advisor_take(advisor, idle_gap, idle_ns);
	if (idle_ns == 0)
		return;
	loading->present_ns =
		idle_gap == loading->present ? loading->present_ns + idle_ns : idle_ns;
	loading->present = idle_gap;
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, idle_ns,
		       loading->present_ns * 2 >= gp_idle_gap_ns(idle_gap) ? idle_gap : NULL);
	gp_advisor_show(advisor, found, call);
	note_place(advisor, &loading->places,
		   (struct place){gp_advisor_site(advisor, call), idle_ns});
}

static void look(struct gp_advisor *advisor)
{
	struct loading loading = {0};
	const struct gp_call_list *loads = gp_advisor_calls(advisor, GP_API_MODULE);

	for (uint32_t i = 0; i < loads->count && advisor->error == 0; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, loads, i);

		if (!is_load(advisor->model, call))
			continue;
		if (loading.last && call->thread_id != loading.last->thread_id)
			loading.present = NULL;
		else if (loading.last && call->start_ns < gp_call_end_ns(loading.last))
			continue;
		loading.last = call;
		weigh(advisor, &loading, call);
	}
	if (advisor->error == 0 && loading.places.count > 0)
		put_place(advisor, &loading.places);
	free(loading.places.rows);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out, "during the work the GPU waited %s time%s for code to be loaded, %s in all",
		gp_format_count(found->count).text, found->count == 1 ? "" : "s",
		gp_format_ns(found->time_ns).text);
	if (own->places > 1 && gp_advisor_knows(advisor, found->site))
		fprintf(out, " at %s places, %s of it here", gp_format_count(own->places).text,
			gp_format_ns(own->place_ns).text);
	fputs(": kernels are loaded when they are first used", out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("run each kernel once before what is measured, or load all at the start (CUDA_MODULE_LOADING=EAGER): a whole run is no shorter for it",
	      out);
}

const struct gp_rule gp_rule_first_use = {
	.id = "first-use",
	.title = "code is loaded during the work",
	.meaning =
		"CUDA loads the code of a kernel, and of its library, at the first launch (lazy loading). The launch then takes milliseconds, and the GPU is idle meanwhile. This is a one-time cost of a process: a change takes it out of the measured time, but the whole run is hardly shorter.",
	.change =
		"Exclude the first iterations from measurements and from the recording (--delay, --capture-range). Warm up each shape. CUDA_MODULE_LOADING=EAGER loads all code at the start, including unused code.",
	.ignore = "The program runs for a long time.",
	.threshold = {.saves_percent = 3, .saves_ns = 20000000, .count = 1},
	.is_once = true,
	.is_moved = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
