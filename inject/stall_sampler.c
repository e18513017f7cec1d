#include "inject/stall_sampler.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/hash_bytes.h"
#include "collector/intern.h"
#include "collector/sys.h"
#include "gpuprof/count.h"
#include "gpuprof/option.h"
#include "hardware/profiler_host.h"
#include "inject/dlsym.h"
#include "inject/hw_collector.h"
#include "inject/options.h"
#include "inject/pc_sampling.h"
#include "inject/recording_gate.h"
#include "inject/stall_modules.h"

#define CONTEXTS       64u /* at a time; further ones have no samples */
#define FETCHED_PCS    4096u
#define REASONS        128u /* of a chip: 40 are known */
#define SCRATCH_BYTES  ((size_t)8 << 20)
#define USUAL_EXPONENT 18u
#define USUAL_BUFFER   ((size_t)64 << 20) /* of the hardware, in host memory; 100 ms take 4 MB */
#define MOST_BUFFER    ((size_t)512 << 20)
#define EMIT_NS        1000000000u
#define FUNCTIONS      4096u  /* known ones; a power of two */
#define PLACES         16384u /* with samples since the last emission; a power of two */
#define MOST_PLACES    (PLACES / 4 * 3)
#define MOST_PATH      4096

/* ---- contexts ---- */

/* ENDING becomes FREE again; TAKEN: is filled in; GONE: has no more samples. */
enum context_state { FREE, TAKEN, WANTED, RUNNING, ENDING, GONE };

struct context {
	CUcontext context;
	uint16_t device_id;
	uint32_t state; /* enum context_state; atomic, set last */
	struct gp_hw_try try;
	bool was_fetched;
	uint64_t fetched_ns;
	/* by CUPTI's number of the reason */
	uint32_t reason_ids[REASONS];
	bool is_reason[REASONS], is_not_issued[REASONS];
};

/* ---- what the thread adds up ---- */

/* The key is all before `samples`. */
struct place {
	uint32_t kernel_id, file_id, line, reason_id;
	uint32_t device_id;
	uint32_t samples, not_issued;
};
#define KEY_BYTES offsetof(struct place, samples)

struct function {
	uint64_t crc;
	const char *name; /* CUPTI's; NULL = no function */
	uint32_t kernel_id;
	const struct gp_cubin_function *lines;
};

static struct {
	const struct gp_cupti *cupti;
	struct gp_pc_sampling pc;
	struct context contexts[CONTEXTS];
	struct gp_pc_data data;      /* of one fetch */
	struct gp_pc_data unfetched; /* CUPTI wants memory for what is left if it is disabled */
	struct gp_intern texts;
	struct function *functions; /* by hash; another one replaces it */
	struct place *places;       /* by hash */
	uint32_t place_count;
	uint64_t start_ns, emitted_ns; /* since the last emission: CUPTI's clock; ours */
} sampler;

/* ---- setting up ---- */

/* Returns the array of PCs with memory for their reasons, or NULL. */
static void *make_pcs(size_t count)
{
	size_t stride = gp_pc_stride(sampler.cupti->version);
	uint8_t *pcs = calloc(count, stride);
	struct gp_pc_reason *reasons = calloc(count * REASONS, sizeof(*reasons));

	if (pcs == NULL || reasons == NULL) {
		free(pcs);
		free(reasons);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		struct gp_pc *pc = (struct gp_pc *)(pcs + i * stride);

		pc->bytes = stride;
		pc->reasons = reasons + i * REASONS;
	}
	return pcs;
}

static int make_memory(void)
{
	sampler.functions = calloc(FUNCTIONS, sizeof(*sampler.functions));
	sampler.places = calloc(PLACES, sizeof(*sampler.places));
	sampler.data = (struct gp_pc_data){.bytes = GP_PC_HEAD(struct gp_pc_data, buffer_full),
					   .capacity = FETCHED_PCS,
					   .pcs = make_pcs(FETCHED_PCS)};
	sampler.unfetched = sampler.data;
	sampler.unfetched.capacity = 1;
	sampler.unfetched.pcs = make_pcs(1);
	return sampler.functions != NULL && sampler.places != NULL && sampler.data.pcs != NULL &&
			       sampler.unfetched.pcs != NULL
		       ? 0
		       : -ENOMEM;
}

static int open_sampler(const struct gp_cupti *cupti, void *libcupti)
{
	static const char *const symbols[] = {
#define X(name, symbol, type) symbol,
		GP_PC_FUNCTIONS(X)
#undef X
	};
	int error = gp_hw_find_functions(libcupti, symbols, (void **)&sampler.pc, COUNT(symbols));

	sampler.cupti = cupti;
	if (error == 0)
		error = gp_profiler_host_load(libcupti, gp_dlsym);
	return error == 0 ? make_memory() : error;
}

static size_t hardware_buffer_bytes(uint64_t exponent)
{
	size_t bytes = USUAL_BUFFER;

	for (; exponent < USUAL_EXPONENT && bytes < MOST_BUFFER; exponent++)
		bytes *= 2;
	return bytes;
}

static int call_with_context(const struct context *context, int (*function)(struct gp_pc_context *))
{
	struct gp_pc_context parameters = {GP_PC_HEAD(struct gp_pc_context, context), NULL,
					   context->context};

	return function(&parameters);
}

/* Without start and stop control each launch takes 31 us longer. */
static int configure(const struct context *context)
{
	uint64_t exponent = gp_option_exponent(GP_OPTION_ID_STALLS);
	struct gp_pc_setting settings[] = {
		{.attribute = GP_PC_MODE, .number = GP_PC_CONTINUOUS},
		{.attribute = GP_PC_START_STOP, .number = 1},
		{.attribute = GP_PC_PERIOD, .number = (uint32_t)exponent},
		{.attribute = GP_PC_FORMAT, .number = GP_PC_PARSED},
		{.attribute = GP_PC_SCRATCH_BYTES, .bytes = SCRATCH_BYTES},
		{.attribute = GP_PC_HARDWARE_BYTES, .bytes = hardware_buffer_bytes(exponent)},
		{.attribute = GP_PC_DATA, .data = &sampler.unfetched},
	};
	struct gp_pc_settings parameters = {GP_PC_HEAD(struct gp_pc_settings, settings), NULL,
					    context->context, COUNT(settings), settings};

	return sampler.pc.configure(&parameters);
}

static uint32_t text_id(const char *text)
{
	uint32_t bytes = (uint32_t)strlen(text), id;
	bool is_new;

	id = gp_intern(&sampler.texts, text, bytes, &is_new);
	if (id == 0 || !is_new || gp_emit_string(GP_STRING_STALL, id, 0, text, bytes))
		return id;
	gp_intern_remove_last(&sampler.texts, text, bytes);
	return 0;
}

/* "smsp__pcsamp_warps_issue_stalled_wait_not_issued": samples of "wait", a part of them. */
static void learn_reason(struct context *context, uint32_t index, const char *name)
{
	static const char before[] = "issue_stalled_", after[] = "_not_issued";
	const char *reason = strstr(name, before);
	char text[GP_PC_REASON_NAME_BYTES];
	size_t length;

	if (index >= REASONS || reason == NULL)
		return;
	length = (size_t)snprintf(text, sizeof(text), "%s", reason + sizeof(before) - 1);
	context->is_not_issued[index] = length >= sizeof(after) - 1 &&
					strcmp(text + length - (sizeof(after) - 1), after) == 0;
	if (context->is_not_issued[index])
		text[length - (sizeof(after) - 1)] = '\0';
	context->reason_ids[index] = text_id(text);
	context->is_reason[index] = true;
}

static int learn_reasons(struct context *context)
{
	static char room[REASONS][GP_PC_REASON_NAME_BYTES];
	char *names[REASONS];
	uint32_t indices[REASONS] = {0};
	size_t count = 0;
	struct gp_pc_reason_count counting = {GP_PC_HEAD(struct gp_pc_reason_count, count), NULL,
					      context->context, &count};
	struct gp_pc_reason_names naming = {GP_PC_HEAD(struct gp_pc_reason_names, names),
					    NULL,
					    context->context,
					    0,
					    indices,
					    names};
	int result = sampler.pc.reason_count(&counting);

	for (size_t i = 0; i < REASONS; i++)
		names[i] = room[i];
	naming.count = count < REASONS ? count : REASONS;
	if (result == 0)
		result = sampler.pc.reason_names(&naming);
	for (size_t i = 0; result == 0 && i < naming.count; i++)
		learn_reason(context, indices[i], names[i]);
	return result;
}

/*
 * Only the start fails if another process uses the counters.  After that every other call fails;
 * and a later start would come after the modules, whose samples have no place then.
 */
static int start(struct context *context)
{
	int result = call_with_context(context, sampler.pc.enable);

	if (result == 0)
		result = configure(context);
	if (result == 0)
		result = learn_reasons(context);
	return result == 0 ? call_with_context(context, sampler.pc.start) : result;
}

/* ---- modules ---- */

bool gp_stall_sampler_is_on(void)
{
	return gp_hw_collector_is(&gp_stall_sampler);
}

static bool is_first(uint32_t *was_seen)
{
	return gp_swap32(was_seen, 1) == 0;
}

void gp_stall_sampler_module(const void *cubin, size_t bytes)
{
	static uint32_t was_noted;

	if (cubin != NULL && sampler.pc.crc != NULL &&
	    !gp_stall_modules_add(cubin, bytes, sampler.pc.crc) && is_first(&was_noted))
		gp_hw_note(
			"samples of warps may have no source line: the program's modules have more than %u MiB of line information",
			GP_STALL_MODULES_MIB);
}

/* ---- samples ---- */

/* CUPTI uses one address for the name of a function. */
static const struct function *find_function(const struct gp_pc *pc)
{
	uint64_t hash = gp_hash_fold(gp_hash_fold(GP_HASH_SEED, pc->crc), (uintptr_t)pc->name);
	struct function *function = &sampler.functions[hash & (FUNCTIONS - 1)];
	struct gp_cubin_lines *lines;

	if (function->name == pc->name && function->crc == pc->crc)
		return function;
	lines = gp_stall_modules_find(pc->crc);
	function->lines = lines != NULL ? gp_cubin_lines_function(lines, pc->name) : NULL;
	function->kernel_id = text_id(
		function->lines != NULL ? gp_cubin_function_kernel(function->lines) : pc->name);
	function->crc = pc->crc;
	function->name = pc->name;
	return function;
}

static void find_line(const struct function *function, const struct gp_pc *pc, struct place *place)
{
	struct gp_cubin_place found;
	char path[MOST_PATH];

	place->file_id = place->line = 0;
	if (function->lines == NULL ||
	    !gp_cubin_function_place(function->lines, pc->offset, &found))
		return;
	snprintf(path, sizeof(path), "%s%s%s", found.folder, found.folder[0] != '\0' ? "/" : "",
		 found.file);
	place->file_id = text_id(path);
	place->line = found.line;
}

static void emit_place(const struct place *place, uint64_t end_ns)
{
	struct gp_record_stall record = {.kind = GP_RECORD_STALL,
					 .slots = sizeof(record) / GP_SLOT_BYTES,
					 .device_id = (uint16_t)place->device_id,
					 .line = place->line,
					 .start_ns = sampler.start_ns,
					 .end_ns = end_ns,
					 .kernel_id = place->kernel_id,
					 .file_id = place->file_id,
					 .reason_id = place->reason_id,
					 .samples = place->samples,
					 .not_issued = place->not_issued};

	gp_emit((const struct gp_record *)&record);
}

static uint64_t cupti_now_ns(void)
{
	uint64_t now_ns = 0;

	sampler.cupti->cuptiGetTimestamp(&now_ns);
	return now_ns;
}

static void emit_places(void)
{
	uint64_t now_ns = cupti_now_ns();

	for (uint32_t i = 0; sampler.place_count > 0 && i < PLACES; i++) {
		struct place *place = &sampler.places[i];

		if (place->samples == 0 && place->not_issued == 0)
			continue;
		emit_place(place, now_ns);
		*place = (struct place){0};
		sampler.place_count--;
	}
	sampler.start_ns = now_ns;
	sampler.emitted_ns = gp_sys_now_ns();
}

/* The samples of this kernel, line and reason. */
static struct place *find_place(const struct place *key)
{
	uint64_t hash = gp_hash_bytes(0, (const char *)key, KEY_BYTES);
	struct place *place;

	if (sampler.place_count >= MOST_PLACES)
		emit_places();
	while (place = &sampler.places[hash++ & (PLACES - 1)],
	       place->samples != 0 || place->not_issued != 0)
		if (memcmp(place, key, KEY_BYTES) == 0)
			return place;
	*place = *key;
	sampler.place_count++;
	return place;
}

static void take_reason(const struct context *context, const struct gp_pc_reason *reason,
			struct place *key)
{
	struct place *place;

	if (reason->index >= REASONS || !context->is_reason[reason->index] || reason->samples == 0)
		return;
	key->reason_id = context->reason_ids[reason->index];
	place = find_place(key);
	if (context->is_not_issued[reason->index])
		place->not_issued += reason->samples;
	else
		place->samples += reason->samples;
}

static void take_pc(const struct context *context, const struct gp_pc *pc)
{
	const struct function *function = find_function(pc);
	struct place key = {.kernel_id = function->kernel_id, .device_id = context->device_id};

	find_line(function, pc, &key);
	for (size_t i = 0; i < pc->reason_count && i < REASONS; i++)
		take_reason(context, &pc->reasons[i], &key);
}

/* Samples of a pause are not recorded. */
static void take_data(const struct context *context, bool is_recorded)
{
	const struct gp_pc_data *data = &sampler.data;
	size_t stride = gp_pc_stride(sampler.cupti->version);

	if (!is_recorded)
		return;
	gp_count(GP_COUNTER_STALL_SAMPLES, data->samples);
	gp_count(GP_COUNTER_STALL_OUTSIDE, data->outside);
	gp_count(GP_COUNTER_STALL_DROPPED, data->dropped);
	for (size_t i = 0; i < data->count && i < data->capacity; i++) {
		const struct gp_pc *pc =
			(const struct gp_pc *)((const uint8_t *)data->pcs + i * stride);

		if (pc->name != NULL)
			take_pc(context, pc);
	}
}

static int get(const struct context *context)
{
	struct gp_pc_get parameters = {GP_PC_HEAD(struct gp_pc_get, data), NULL, context->context,
				       &sampler.data};

	sampler.data.count = sampler.data.remaining = 0;
	sampler.data.samples = sampler.data.outside = sampler.data.dropped = 0;
	sampler.data.buffer_full = 0;
	return sampler.pc.get(&parameters);
}

/* Fetches all samples of a context.  Returns CUPTI's result. */
static int fetch(struct context *context)
{
	uint64_t now_ns = gp_sys_now_ns();
	bool is_recorded = gp_recording_gate_was_open_since(context->fetched_ns);
	int result;

	context->fetched_ns = now_ns;
	do {
		result = get(context);
		if (result == 0)
			take_data(context, is_recorded);
	} while (result == 0 && sampler.data.remaining > 0 && sampler.data.count > 0);
	gp_count(GP_COUNTER_STALL_FULL, result == GP_HW_NO_MEMORY);
	if (sampler.data.count > 0 && !context->was_fetched) {
		context->was_fetched = true;
		gp_hw_stay_before_others();
	}
	return result;
}

/* ---- the thread ---- */

static void set_state(struct context *context, enum context_state state)
{
	gp_store32_release(&context->state, state);
}

static void stop(struct context *context)
{
	if (call_with_context(context, sampler.pc.stop) == 0)
		fetch(context);
}

/* Meanwhile the program may have begun to destroy it, and waits. */
static void begin(struct context *context)
{
	if (!gp_hw_try_is_due(&context->try) ||
	    !gp_hw_try_took(&context->try, context->device_id, start(context)))
		return;
	context->fetched_ns = gp_sys_now_ns();
	if (sampler.start_ns == 0)
		emit_places();
	if (!gp_replace32(&context->state, WANTED, RUNNING))
		stop(context);
}

/* A full buffer is emptied by a new start. */
static void serve_running(struct context *context)
{
	int result = fetch(context);

	if (result == GP_HW_NO_MEMORY) {
		call_with_context(context, sampler.pc.stop);
		result = call_with_context(context, sampler.pc.start);
	}
	if (result != 0) {
		gp_hw_give_up(&context->try, context->device_id, result);
		set_state(context, GONE);
	}
}

static void serve_context(struct context *context)
{
	switch (gp_load32_acquire(&context->state)) {
	case WANTED:
		begin(context);
		break;
	case RUNNING:
		serve_running(context);
		break;
	case ENDING:
		stop(context);
		set_state(context, FREE);
		break;
	default:
		break;
	}
}

static void serve_contexts(void)
{
	for (uint32_t i = 0; i < CONTEXTS; i++)
		serve_context(&sampler.contexts[i]);
	if (sampler.place_count > 0 && gp_sys_now_ns() >= sampler.emitted_ns + EMIT_NS)
		emit_places();
}

/* The sampling is stopped, but not disabled: that may hang while the program exits. */
static void fetch_last(void)
{
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		uint32_t running = gp_load32_acquire(&sampler.contexts[i].state);

		if (running != RUNNING && running != ENDING)
			continue;
		stop(&sampler.contexts[i]);
		set_state(&sampler.contexts[i], GONE);
	}
	emit_places();
}

/* ---- the program's threads ---- */

static struct context *take_context(void)
{
	for (uint32_t i = 0; i < CONTEXTS; i++)
		if (gp_replace32(&sampler.contexts[i].state, FREE, TAKEN))
			return &sampler.contexts[i];
	return NULL;
}

static void begin_context(CUcontext context, uint16_t device_id)
{
	static uint32_t was_noted;
	struct context *taken = take_context();

	if (taken == NULL) {
		if (is_first(&was_noted))
			gp_hw_note(
				"no samples of warps of some contexts: the program has more than %u of them at a time",
				CONTEXTS);
		return;
	}
	taken->context = context;
	taken->device_id = device_id;
	taken->try = (struct gp_hw_try){0};
	memset(taken->is_reason, 0, sizeof(taken->is_reason));
	set_state(taken, WANTED);
}

/* A context that never ran has nothing to stop. */
static void end_context(CUcontext context)
{
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		struct context *found = &sampler.contexts[i];

		if (gp_load32_acquire(&found->state) >= WANTED && found->context == context &&
		    !gp_replace32(&found->state, RUNNING, ENDING))
			gp_replace32(&found->state, WANTED, GONE);
	}
}

const struct gp_hw_collector gp_stall_sampler = {
	.option = GP_OPTION_ID_STALLS,
	.samples = "samples of warps",
	.oldest = "11.8",
	.time_counter = GP_COUNTER_STALL_SAMPLING_NS,
	.open = open_sampler,
	.serve = serve_contexts,
	.fetch_last = fetch_last,
	.context_begins = begin_context,
	.context_ends = end_context,
	.is_awaited = true,
};
