#include "report/advice/rules/rules.h"

#include <string.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/code.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LOOK_UP_NS, 100000, NS, "a search for a function this long loads its code")
GP_LIMITS(LIMITS);

struct own {
	uint64_t places;   /* that load code */
	uint64_t place_ns; /* of the case's site */
};

static bool is_load(const struct gp_model *model, const struct gp_call *call)
{
	const char *name = gp_model_api(model, call->api).name;

	return strstr(name, "Load") || (call->duration_ns >= LOOK_UP_NS && !strstr(name, "Unload"));
}

/* The program's own places first, as the user can change these; then the longest. */
static bool is_better(const struct gp_advisor *advisor, const struct gp_tally_row *left,
		      const struct gp_tally_row *right)
{
	bool own = gp_call_sites_at(advisor->sites, (uint32_t)left->key[0]).is_own;

	if (own != gp_call_sites_at(advisor->sites, (uint32_t)right->key[0]).is_own)
		return own;
	return left->sums[0] > right->sums[0] ||
	       (left->sums[0] == right->sums[0] && left->key[0] < right->key[0]);
}

static void put_place(struct gp_advisor *advisor, const struct gp_tally *places)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	struct own *own = found->own;
	const struct gp_tally_row *best = &places->rows[0];

	for (uint32_t i = 1; i < places->count; i++)
		if (is_better(advisor, &places->rows[i], best))
			best = &places->rows[i];
	found->site = (uint32_t)best->key[0];
	own->place_ns = best->sums[0];
	own->places = places->count;
}

/* The state of a walk over the loads, thread by thread. */
struct loading {
	struct gp_tally places;            /* by site: the time */
	const struct gp_call *last;        /* not nested in another; NULL at first */
	const struct gp_idle_gap *present; /* the gap of the last load ... */
	uint64_t present_ns;               /* ... and the time that its thread loads in it */
};

/* start-up has explained the loads of NCCL. */
static bool is_told(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap)
{
	return idle_gap->told != GP_NONE &&
	       gp_rules[advisor->cases[idle_gap->told].rule] == &gp_rule_start_up;
}

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
	gp_tally_find(&loading->places, (uint64_t[GP_TALLY_KEYS]){gp_advisor_site(advisor, call)})
		->sums[0] += idle_ns;
}

static void look(struct gp_advisor *advisor)
{
	struct loading loading = {0};
	const struct gp_call_list *loads = gp_advisor_calls(advisor, GP_API_MODULE);

	for (uint32_t i = 0; i < loads->count; i++) {
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
	if (loading.places.count > 0)
		put_place(advisor, &loading.places);
	gp_tally_free(&loading.places);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	if (own->places <= 1 || !gp_advisor_knows(advisor, found->site))
		return;
	gp_document_add_number(values, "place_count", GP_UNIT_COUNT, own->places);
	gp_document_add_number(values, "place_ns", GP_UNIT_NS, own->place_ns);
}

const struct gp_rule gp_rule_first_use = {
	.id = "first-use",
	.title = "code is loaded during the work",
	.found =
		"the GPU waited {count} time[{!count=1}s] for code to be loaded during the work, {time_ns} in all[ at {place_count} places, {place_ns} of it here]: kernels are loaded at their first use",
	.change =
		"run each kernel once before the measured part, or load all code at the start (CUDA_MODULE_LOADING=EAGER): the whole run does not become shorter",
	.meaning =
		"CUDA loads the code of a kernel, and of its library, at the first launch (lazy loading). The launch then takes milliseconds, and the GPU is idle meanwhile. This is a one-time cost of a process: a change takes it out of the measured time, but the whole run is hardly shorter.",
	.remedy =
		"Exclude the first iterations from measurements and from the recording (--delay, --capture-range). Warm up each shape. CUDA_MODULE_LOADING=EAGER loads all code at the start, including unused code.",
	.ignore = "The program runs for a long time.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 20000000,
		      .count = 1,
		      .reason = "Less time is a few small kernels"},
	.limits = limits,
	.is_once = true,
	.is_moved = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
