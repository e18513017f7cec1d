#include "report/model/recorded.h"

#include <libiberty/libiberty.h>
#include <stdio.h>
#include <string.h>

#include "gpuprof/option.h"
#include "report/model/losses.h"
#include "report/model/no_end.h"

/* The default of --trace. */
#define DEFAULT_WORDS "default,gpu,memory,module,nvtx,overhead"

static struct gp_recorded_part
make_part(const struct gp_model *model, const struct gp_gate *resumed, const struct gp_gate *paused)
{
	uint64_t start_ns = resumed ? resumed->time_ns : 0;
	uint64_t end_ns = paused ? paused->time_ns : gp_model_end_ns(model);

	return (struct gp_recorded_part){
		.resumed = resumed,
		.paused = paused,
		.start_ns = start_ns,
		.end_ns = end_ns > start_ns ? end_ns : start_ns,
	};
}

/* Gates open and close in turn; one that closes first ends a part that began with the trace. */
bool gp_recorded_part(const struct gp_model *model, uint32_t *next, struct gp_recorded_part *part)
{
	const struct gp_gate *gates = model->gates, *resumed = NULL;
	uint32_t at = *next, count = model->gate_count;

	if (at == 0 && count > 0 && !gates[0].on && gates[0].reason == GP_GATE_START)
		at++;
	if (at < count && gates[at].on)
		resumed = &gates[at++];
	else if (at != 0)
		return false;
	*part = make_part(model, resumed, at < count ? &gates[at] : NULL);
	*next = at + 1;
	return true;
}

/* The words of an option ("TRACE="); the default: the trace names options that differ from it. */
static void find_words(const struct gp_model *model, const char *option, const char *otherwise,
		       char words[GP_RECORDED_WORDS_BYTES])
{
	const char *options = model->info[GP_INFO_OPTIONS];
	const char *list = options ? strstr(options, option) : NULL;

	if (list)
		snprintf(words, GP_RECORDED_WORDS_BYTES, "%.*s",
			 (int)strcspn(list, "\n") - (int)strlen(option), list + strlen(option));
	else
		snprintf(words, GP_RECORDED_WORDS_BYTES, "%s", otherwise);
}

bool gp_recorded_kind(const struct gp_model *model, const char *word)
{
	char words[GP_RECORDED_WORDS_BYTES];

	if (model->recorder && (model->unknown & GP_UNKNOWN_ALLOCATIONS) != 0 &&
	    strcmp(word, "memory") == 0)
		return false;
	find_words(model, "TRACE=", DEFAULT_WORDS, words);
	if (gp_option_list_has(words, word))
		return true;
	return (gp_option_list_has(words, "default") || gp_option_list_has(words, "api-all")) &&
	       gp_option_list_has(DEFAULT_WORDS, word);
}

struct gp_recorded_ranks gp_recorded_ranks(const struct gp_model *model)
{
	struct gp_recorded_ranks ranks;

	find_words(model, "RANKS=", "", ranks.text);
	return ranks;
}

bool gp_recorded_samples_launches(const struct gp_model *model)
{
	char words[GP_RECORDED_WORDS_BYTES];

	find_words(model, "STACKS=", "alloc,sample", words);
	return !model->recorder && gp_option_list_has(words, "sample") &&
	       !gp_option_list_has(words, "launch") && !gp_option_list_has(words, "all");
}

bool gp_recorded_is_sampled(const struct gp_model *model)
{
	char share[GP_RECORDED_WORDS_BYTES];

	find_words(model, "SAMPLE=", "0", share);
	return strcmp(share, "0") != 0;
}

bool gp_recorded_any_sampled(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (gp_recorded_is_sampled(models[i]))
			return true;
	return false;
}

bool gp_recorded_knows_memory(const struct gp_model *model)
{
	return gp_recorded_kind(model, "memory") && !gp_recorded_is_sampled(model);
}

bool gp_recorded_is_damaged(const struct gp_model *model)
{
	return model->losses.damaged_bytes + model->losses.unknown_records > 0;
}

bool gp_recorded_has_lost(const struct gp_model *model)
{
	static const enum gp_counter losses[] = {
		GP_COUNTER_LOST_RING_FULL,   GP_COUNTER_LOST_NESTED,   GP_COUNTER_LOST_NO_RING,
		GP_COUNTER_LOST_WRITE_BYTES, GP_COUNTER_DAMAGED_SLOTS,
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (model->counters[losses[i]] > 0)
			return true;
	for (size_t i = 0; i < GP_WRITE_CAUSES; i++)
		if (model->counters[gp_write_causes[i]] > 0)
			return true;
	return gp_recorded_is_damaged(model);
}

bool gp_recorded_is_last_part(const struct gp_model *model)
{
	return model->counters[GP_COUNTER_LEFT_OUT_OLD] > 0;
}

bool gp_recorded_any_last_part(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (gp_recorded_is_last_part(models[i]))
			return true;
	return false;
}

bool gp_recorded_is_whole(const struct gp_model *model)
{
	return model->losses.closed && !model->losses.cut && !model->losses.live;
}

const char *gp_recorded_why_no_end(const struct gp_model *model)
{
	static const struct {
		enum gp_counter counter;
		enum gp_no_end why;
	} known[] = {
		{GP_COUNTER_LOST_FILE_LIMIT, GP_NO_END_FILE_LIMIT},
		{GP_COUNTER_LOST_DISK_QUOTA, GP_NO_END_DISK_QUOTA},
		{GP_COUNTER_LOST_DISK_FULL, GP_NO_END_DISK_FULL},
	};

	if (model->recorder)
		return model->why_no_end ? model->why_no_end : gp_no_end_text(GP_NO_END_CUT);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (model->counters[known[i].counter] > 0)
			return gp_no_end_text(known[i].why);
	return gp_no_end_text(model->losses.killed || model->losses.end_way == GP_END_SIGNAL
				      ? GP_NO_END_KILLED
				      : GP_NO_END_UNKNOWN);
}

const char *gp_recorded_tell_no_end(const struct gp_model *model)
{
	if (model->losses.live)
		return gp_no_end_text(GP_NO_END_RUNNING);
	return model->losses.closed ? gp_no_end_text(GP_NO_END_CUT) : gp_recorded_why_no_end(model);
}

struct gp_figure gp_recorded_how_ended(const struct gp_model *model)
{
	const struct gp_losses *losses = &model->losses;
	struct gp_figure how = {"-"};
	const char *signal;

	if (losses->live) {
		snprintf(how.text, sizeof(how.text), "running");
	} else if (losses->end_way == GP_END_STATUS) {
		snprintf(how.text, sizeof(how.text), "exit %u", losses->end_status);
	} else if (losses->end_way == GP_END_EXEC) {
		snprintf(how.text, sizeof(how.text), "exec");
	} else if (losses->end_way == GP_END_SIGNAL) {
		signal = strsigno(losses->end_status);
		snprintf(how.text, sizeof(how.text), "%s", signal ? signal : "signal");
	} else if (!losses->closed && losses->killed) {
		snprintf(how.text, sizeof(how.text), "killed or crashed");
	}
	return how;
}

/* Of one that lives calls waited still when its rings were read. */
uint64_t gp_recorded_last_known_ns(const struct gp_model *model)
{
	uint64_t end_ns = gp_model_end_ns(model), looked_ns = model->rings_monotonic_ns;

	if (!model->losses.live || model->base_monotonic_ns == 0 ||
	    looked_ns < model->base_monotonic_ns + end_ns)
		return end_ns;
	return looked_ns - model->base_monotonic_ns;
}

bool gp_recorded_few_steps(const struct gp_model *model)
{
	return model->recorder && strcmp(model->recorder, "torch.profiler") == 0;
}

bool gp_recorded_is_own_export(const struct gp_model *model)
{
	return model->recorder && strncmp(model->recorder, "gpuprof", strlen("gpuprof")) == 0;
}

bool gp_recorded_by_another(const struct gp_model *model)
{
	return model->recorder && !gp_recorded_is_own_export(model);
}

bool gp_recorded_has_kernels(const struct gp_model *model)
{
	return model->hw_window_count == 0 || model->hw_windows[0].has_records;
}

/* ---- all operations ---- */

/* Beside the losses at the end of the trace. */
static bool lacks_operations(const struct gp_model *model)
{
	const struct gp_losses *missing = &model->losses;

	return !gp_recorded_kind(model, "gpu") || gp_loss_has_lost_operations(model) ||
	       gp_recorded_is_damaged(model) || missing->ops_untimed > 0 ||
	       model->counters[GP_COUNTER_LEFT_OUT_KERNELS] > 0;
}

bool gp_recorded_has_all_operations(const struct gp_model *model)
{
	return gp_recorded_is_whole(model) && !lacks_operations(model);
}

const char *gp_recorded_why_not_all(const struct gp_model *model)
{
	if (gp_recorded_has_all_operations(model))
		return NULL;
	if (lacks_operations(model))
		return "operations are missing";
	if (model->losses.live)
		return "the process still runs: operations may be missing";
	return model->losses.closed ? "the file was cut: operations may be missing"
				    : "the trace has no end: operations may be missing";
}
