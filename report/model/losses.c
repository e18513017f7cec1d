#include "report/model/losses.h"

#include <stdio.h>
#include <string.h>

#include "report/base/text/format.h"

const struct gp_loss gp_loss_table[GP_LOSSES] = {
#define GP_COUNTER(NAME, unit, KIND, sentence)                                                     \
	[GP_COUNTER_##NAME] = {#NAME, unit, GP_LOSS_##KIND, sentence},
#include "gpuprof/counter.def"
#undef GP_COUNTER
#define GP_LOSS(NAME, KIND, count, sentence)                                                       \
	[GP_LOST_##NAME] = {#NAME, "records", GP_LOSS_##KIND, sentence},
#include "report/model/loss.def"
#undef GP_LOSS
};

uint64_t gp_loss_count(const struct gp_model *model, unsigned number)
{
	switch (number) {
#define GP_LOSS(NAME, KIND, count, sentence)                                                       \
	case GP_LOST_##NAME:                                                                       \
		return count;
#include "report/model/loss.def"
#undef GP_LOSS
	default:
		return model->counters[number];
	}
}

static void set_count(struct gp_model *model, unsigned number, uint64_t count)
{
	switch (number) {
	case GP_LOST_DAMAGED_BYTES:
		model->losses.damaged_bytes = count;
		break;
	case GP_LOST_UNREADABLE_RECORDS:
		model->losses.unknown_records = count;
		break;
	case GP_LOST_OPERATIONS_UNTIMED: /* exports lack these */
		model->losses.ops_untimed = count;
		break;
	case GP_LOST_STATUS:
		model->unknown |= GP_UNKNOWN_STATUS;
		break;
	case GP_LOST_ALLOCATIONS:
		model->unknown |= GP_UNKNOWN_ALLOCATIONS;
		break;
	default:
		if (number < GP_COUNTERS)
			model->counters[number] = count;
	}
}

void gp_loss_restore(struct gp_model *model, const char *key, uint64_t count)
{
	const size_t bytes = strlen(GP_LOSS_KEY);
	const char *name = strncmp(key, GP_LOSS_KEY, bytes) == 0 ? key + bytes : "";

	for (unsigned i = 0; i < GP_LOSSES; i++)
		if (strcmp(gp_loss_table[i].name, name) == 0 ||
		    strcmp(gp_loss_table[i].sentence, key) == 0)
			set_count(model, i, count);
}

/* The first word that ends in s is the plural. */
void gp_loss_text(char *text, size_t size, uint64_t count, const char *sentence)
{
	const char *end = sentence + strcspn(sentence, " ,:");
	int ending = 0;

	while (*end && end[-1] != 's')
		end += 1 + strcspn(end + 1, " ,:");
	if (count == 1 && end[-1] == 's')
		ending = end - sentence >= 3 && strncmp(end - 3, "hes", 3) == 0 ? 2 : 1;
	snprintf(text, size, "%s %.*s%s", gp_format_count(count).text,
		 (int)(end - sentence) - ending, sentence, end);
}

bool gp_loss_is_counted(const struct gp_model *model, enum gp_loss_kind kind)
{
	for (unsigned i = 0; i < GP_COUNTERS; i++)
		if (gp_loss_table[i].kind == kind && model->counters[i] > 0 &&
		    i != GP_COUNTER_LEFT_OUT_OLD)
			return true;
	return false;
}

bool gp_loss_has_lost_operations(const struct gp_model *model)
{
	return gp_loss_is_counted(model, GP_LOSS_LOSS) || model->losses.launches_without_op > 0 ||
	       model->losses.graphs_without_op > 0;
}

static void each(const struct gp_model *model, unsigned kinds, gp_loss_taker take, void *context)
{
	for (unsigned i = 0; i < GP_LOSSES; i++)
		if ((1u << gp_loss_table[i].kind & kinds) != 0 && gp_loss_count(model, i) > 0)
			take(context, &gp_loss_table[i], gp_loss_count(model, i));
}

void gp_loss_each(const struct gp_model *model, gp_loss_taker take, void *context)
{
	each(model, 1u << GP_LOSS_LOSS | 1u << GP_LOSS_TEXT_LOSS | 1u << GP_LOSS_INCOMPLETE, take,
	     context);
}

void gp_loss_each_of_part(const struct gp_model *model, gp_loss_taker take, void *context)
{
	each(model, 1u << GP_LOSS_PART, take, context);
}

void gp_loss_each_left_out(const struct gp_model *model, gp_loss_taker take, void *context)
{
	static const unsigned numbers[] = {GP_COUNTER_LEFT_OUT_LAUNCHES,
					   GP_COUNTER_LEFT_OUT_KERNELS, GP_COUNTER_LEFT_OUT_SHORT,
					   GP_COUNTER_LEFT_OUT_PAUSED};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (model->counters[numbers[i]] > 0)
			take(context, &gp_loss_table[numbers[i]], model->counters[numbers[i]]);
}
