#include "report/analysis/idle/gpu_sweep.h"

#include <stdlib.h>

#define CLASSES 3 /* bits of GP_STATE_BUSY */

/* When processes lived: disjoint, in order. */
struct lives {
	struct gp_interval *intervals;
	size_t count, at;
};

struct sweep {
	struct gp_model *const *models;
	const struct gp_sweep_taker *takers;
	size_t taker_count;
	struct gp_device_ops ops;
	uint8_t **kinds;                /* by model: of its kernels' names */
	struct gp_process_calls *calls; /* by model */
	struct gp_call_sums *sums;      /* by model */
	struct gp_window *lives;        /* by model: gp_busy_life() */
	uint32_t *users;                /* capacity for the models that use a device */
	size_t model_count;
	struct gp_window window;
	/* of the device that is swept */
	struct gp_busy_parts parts;
	struct lives used;         /* of processes that use it, with known operations */
	struct lives unseen;       /* of processes that may have used it, with unknown operations */
	size_t device, part;       /* the part that the reached time is in or before */
	uint64_t reached_ns;       /* told up to there */
	uint64_t busy_ns[CLASSES]; /* until when operations of each class run that have begun */
	struct gp_op_at last;      /* the one that ends last of those that have begun */
	uint64_t last_ns;
	struct gp_op_at next; /* the one that begins after the reached time */
};

static void tell(struct sweep *sweep, unsigned state, uint64_t end_ns)
{
	for (size_t i = 0; i < sweep->taker_count; i++)
		if (sweep->takers[i].segment)
			sweep->takers[i].segment(sweep->takers[i].context, sweep->device, state,
						 sweep->reached_ns, end_ns);
	sweep->reached_ns = end_ns;
}

static void tell_idle(void *context, enum gp_idle_cause cause, uint64_t end_ns)
{
	tell(context, GP_STATE_IDLE + cause, end_ns);
}

/* The operation next to the gap, if its process had begun and not ended yet. */
static struct gp_op_at beside(const struct sweep *sweep, struct gp_op_at at, uint64_t start_ns,
			      uint64_t end_ns)
{
	const struct gp_window *life = &sweep->lives[at.model];

	if (at.op != GP_NONE && (life->start_unix_ns >= end_ns || life->end_unix_ns <= start_ns))
		at = (struct gp_op_at){0, GP_NONE};
	return at;
}

static void pass_on(const struct sweep *sweep, const struct gp_gap *gap)
{
	for (size_t i = 0; i < sweep->taker_count; i++)
		if (sweep->takers[i].gap)
			sweep->takers[i].gap(sweep->takers[i].context, gap);
}

bool gp_sweep_needs_no_order(void *context, size_t device, uint64_t start_ns, uint64_t end_ns)
{
	(void)context;
	(void)device;
	(void)start_ns;
	(void)end_ns;
	return false;
}

static bool needs_order(const struct sweep *sweep, const struct gp_gap *gap)
{
	for (size_t i = 0; i < sweep->taker_count; i++) {
		const struct gp_sweep_taker *taker = &sweep->takers[i];

		if (taker->segment &&
		    (!taker->needs_order ||
		     taker->needs_order(taker->context, gap->device, gap->start_ns, gap->end_ns)))
			return true;
	}
	return false;
}

static void tell_causes(struct sweep *sweep, const struct gp_gap *gap)
{
	for (enum gp_idle_cause cause = 0; cause < GP_IDLE_CAUSES; cause++)
		if (gap->cause_ns[cause] > 0)
			tell_idle(sweep, cause, sweep->reached_ns + gap->cause_ns[cause]);
}

static void tell_used(struct sweep *sweep, uint64_t end_ns)
{
	struct gp_gap gap = {
		.start_ns = sweep->reached_ns,
		.end_ns = end_ns,
		.device = sweep->device,
		.before = beside(sweep, sweep->last, sweep->reached_ns, end_ns),
		.after = beside(sweep, sweep->next, sweep->reached_ns, end_ns),
	};

	if (needs_order(sweep, &gap)) {
		gp_idle_split(sweep->models, sweep->calls, sweep->sums, &gap, tell_idle, sweep);
	} else {
		gp_idle_split(sweep->models, sweep->calls, sweep->sums, &gap, NULL, NULL);
		tell_causes(sweep, &gap);
	}
	pass_on(sweep, &gap);
}

/*
 * Time without a living process, and time that is not recorded, is no idle time, but for the part
 * before.
 */
static void tell_unused(struct sweep *sweep, enum gp_idle_cause cause, uint64_t end_ns)
{
	struct gp_gap gap = {
		.start_ns = sweep->reached_ns,
		.end_ns = end_ns,
		.device = sweep->device,
		.before = {0, GP_NONE},
		.after = {0, GP_NONE},
		.cause = cause,
	};

	if (cause == GP_IDLE_UNKNOWN)
		gap.before = beside(sweep, sweep->last, gap.start_ns, end_ns);
	gap.cause_ns[cause] = end_ns - gap.start_ns;
	tell_idle(sweep, cause, end_ns);
	pass_on(sweep, &gap);
}

/* Whether one lived at that time; *until_ns becomes when that changes, if it does before. */
static bool lived(struct lives *lives, uint64_t time_ns, uint64_t *until_ns)
{
	const struct gp_interval *life;
	uint64_t change_ns;

	while (lives->at < lives->count && lives->intervals[lives->at].end_ns <= time_ns)
		lives->at++;
	if (lives->at == lives->count)
		return false;
	life = &lives->intervals[lives->at];
	change_ns = life->start_ns <= time_ns ? life->end_ns : life->start_ns;
	if (change_ns < *until_ns)
		*until_ns = change_ns;
	return life->start_ns <= time_ns;
}

static void tell_gap(struct sweep *sweep, uint64_t end_ns)
{
	while (sweep->reached_ns < end_ns) {
		uint64_t until_ns = end_ns;

		if (lived(&sweep->used, sweep->reached_ns, &until_ns))
			tell_used(sweep, until_ns);
		else if (lived(&sweep->unseen, sweep->reached_ns, &until_ns))
			tell_unused(sweep, GP_IDLE_UNKNOWN, until_ns);
		else
			tell_unused(sweep, GP_IDLE_UNUSED, until_ns);
	}
}

static unsigned running(const struct sweep *sweep)
{
	unsigned state = 0;

	for (unsigned i = 0; i < CLASSES; i++)
		state |= sweep->busy_ns[i] > sweep->reached_ns ? 1u << i : 0;
	return state;
}

/* Up to when the state stays as it is, end_ns at most. */
static uint64_t same_until(const struct sweep *sweep, uint64_t end_ns)
{
	for (unsigned i = 0; i < CLASSES; i++)
		if (sweep->busy_ns[i] > sweep->reached_ns && sweep->busy_ns[i] < end_ns)
			end_ns = sweep->busy_ns[i];
	return end_ns;
}

/* Within a part, or where none is. */
static void advance_within(struct sweep *sweep, uint64_t end_ns)
{
	while (sweep->reached_ns < end_ns) {
		unsigned state = running(sweep);

		if (state == 0)
			tell_gap(sweep, end_ns);
		else
			tell(sweep, state, same_until(sweep, end_ns));
	}
}

/* Nothing begins before that time: tells all up to it. */
static void advance(struct sweep *sweep, uint64_t end_ns)
{
	while (sweep->part < sweep->parts.count && sweep->reached_ns < end_ns) {
		const struct gp_interval *part = &sweep->parts.intervals[sweep->part];

		if (part->start_ns >= end_ns)
			return;
		if (sweep->reached_ns < part->start_ns)
			tell(sweep, 0, part->start_ns);
		advance_within(sweep, part->end_ns < end_ns ? part->end_ns : end_ns);
		sweep->part += sweep->reached_ns >= part->end_ns;
	}
}

static unsigned class_of(const struct sweep *sweep, struct gp_op_at at, const struct gp_op *op)
{
	switch (gp_kinds_of_op(sweep->kinds[at.model], sweep->models[at.model], op)) {
	case GP_KIND_COMMUNICATION:
		return 1;
	case GP_KIND_COPY:
		return op->kind == GP_OP_KERNEL ? 0 : 2;
	default:
		return 0;
	}
}

static void take_op(struct sweep *sweep, struct gp_op_at at)
{
	const struct gp_op *op = gp_op_of(sweep->models, at);
	uint64_t base_ns = sweep->models[at.model]->base_unix_ns;
	uint64_t *busy_ns = &sweep->busy_ns[class_of(sweep, at, op)];
	uint64_t end_ns = base_ns + op->end_ns;

	sweep->next = at;
	advance(sweep, base_ns + op->start_ns);
	if (end_ns > *busy_ns)
		*busy_ns = end_ns;
	if (end_ns >= sweep->last_ns) {
		sweep->last_ns = end_ns;
		sweep->last = at;
	}
}

static void find_parts(struct sweep *sweep, size_t device)
{
	free(sweep->parts.intervals);
	sweep->parts = (struct gp_busy_parts){0};
	gp_busy_device_parts(&sweep->parts, &sweep->ops, device, sweep->model_count, sweep->window);
}

static void add_life(struct lives *lives, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < end_ns)
		lives->intervals[lives->count++] = (struct gp_interval){start_ns, end_ns};
}

static void start_lives(struct lives *lives)
{
	lives->count = gp_interval_join(lives->intervals, lives->count);
	lives->at = 0;
}

/* The time of a process without a last call after its last record is not known. */
static uint64_t known_until(const struct sweep *sweep, size_t model)
{
	const struct gp_model *of = sweep->models[model];

	return gp_busy_is_open(of) ? of->base_unix_ns + of->last_ns
				   : sweep->lives[model].end_unix_ns;
}

/* Of one without any operation on the GPU that launched some, it is not even known where. */
static void find_lives(struct sweep *sweep, size_t device)
{
	size_t count = gp_device_ops_users(&sweep->ops, device, sweep->users);

	sweep->used.count = sweep->unseen.count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct gp_window *life = &sweep->lives[sweep->users[i]];
		uint64_t known_ns = known_until(sweep, sweep->users[i]);

		add_life(&sweep->used, life->start_unix_ns, known_ns);
		add_life(&sweep->unseen, known_ns, life->end_unix_ns);
	}
	for (size_t i = 0; i < sweep->model_count; i++)
		if (sweep->models[i]->op_count == 0 &&
		    sweep->models[i]->losses.launches_without_op > 0)
			add_life(&sweep->unseen, sweep->lives[i].start_unix_ns,
				 sweep->lives[i].end_unix_ns);
	start_lives(&sweep->used);
	start_lives(&sweep->unseen);
}

static void sweep_operations(struct sweep *sweep, size_t device)
{
	struct gp_op_at at;

	sweep->device = device;
	sweep->part = 0;
	sweep->reached_ns = sweep->parts.count > 0 ? sweep->parts.intervals[0].start_ns : 0;
	sweep->last_ns = 0;
	sweep->last = (struct gp_op_at){0, GP_NONE};
	for (unsigned i = 0; i < CLASSES; i++)
		sweep->busy_ns[i] = 0;
	gp_device_ops_start(&sweep->ops, device);
	while (gp_device_ops_next(&sweep->ops, &at))
		take_op(sweep, at);
	sweep->next = (struct gp_op_at){0, GP_NONE};
	advance(sweep, UINT64_MAX);
}

static void sweep_device(struct sweep *sweep, size_t device)
{
	find_parts(sweep, device);
	find_lives(sweep, device);
	sweep_operations(sweep, device);
}

static void find_kinds(struct sweep *sweep, size_t model_count, const struct gp_kinds *kinds)
{
	sweep->kinds = calloc(model_count + 1, sizeof(*sweep->kinds));
	for (size_t i = 0; i < model_count; i++) {
		sweep->kinds[i] = gp_kinds_of_names(kinds, sweep->models[i]);
	}
}

static void find_processes(struct sweep *sweep, size_t model_count, size_t device_count)
{
	sweep->calls = calloc(model_count + 1, sizeof(*sweep->calls));
	sweep->lives = calloc(model_count + 1, sizeof(*sweep->lives));
	sweep->users = calloc(model_count + 1, sizeof(*sweep->users));
	sweep->used.intervals = calloc(model_count + 1, sizeof(*sweep->used.intervals));
	sweep->unseen.intervals = calloc(model_count + 1, sizeof(*sweep->unseen.intervals));
	sweep->sums = calloc(model_count + 1, sizeof(*sweep->sums));
	for (size_t i = 0; i < model_count; i++) {
		sweep->lives[i] = gp_busy_life(sweep->models[i]);
		gp_process_calls_of(&sweep->calls[i], sweep->models[i]);
		/* of one device all calls are gone through once */
		if (device_count > 1)
			gp_call_sums_of(&sweep->sums[i], sweep->models[i]);
	}
}

static void forget(struct sweep *sweep, size_t model_count)
{
	for (size_t i = 0; sweep->kinds && i < model_count; i++)
		free(sweep->kinds[i]);
	for (size_t i = 0; sweep->calls && i < model_count; i++)
		gp_process_calls_free(&sweep->calls[i]);
	for (size_t i = 0; sweep->sums && i < model_count; i++)
		gp_call_sums_free(&sweep->sums[i]);
	free(sweep->sums);
	free(sweep->kinds);
	free(sweep->calls);
	free(sweep->lives);
	free(sweep->users);
	free(sweep->used.intervals);
	free(sweep->unseen.intervals);
	free(sweep->parts.intervals);
	gp_device_ops_close(&sweep->ops);
}

int gp_gpu_sweep(struct gp_model *const *models, size_t model_count, struct gp_window window,
		 struct gp_device_list *devices, const struct gp_kinds *kinds,
		 const struct gp_sweep_taker *takers, size_t taker_count)
{
	struct sweep sweep = {.models = models,
			      .model_count = model_count,
			      .window = window,
			      .takers = takers,
			      .taker_count = taker_count};

	gp_device_ops_open(&sweep.ops, models, model_count, devices);
	find_kinds(&sweep, model_count, kinds);
	find_processes(&sweep, model_count, devices->count);
	for (size_t i = 0; i < devices->count; i++)
		sweep_device(&sweep, i);
	forget(&sweep, model_count);
	return 0;
}
