#include "report/model/losses.h"

#include <stddef.h>

#include "report/model/loss_kind.h"

static const char *const meanings[GP_COUNTERS] = {
#define GP_COUNTER(NAME, unit, meaning) meaning,
#include "gpuprof/counter.def"
#undef GP_COUNTER
};

/* What another recorder does not say: where a format asks for it, a zero stands there. */
static const struct {
	uint32_t unknown;
	const char *what;
} untold[] = {
	{GP_UNKNOWN_STATUS, "recorder that does not say whether calls succeeded"},
	{GP_UNKNOWN_ALLOCATIONS, "recorder that does not say what was allocated"},
	{GP_UNKNOWN_SHARED_PARTS, "recorder that does not say which shared memory is static"},
	{GP_UNKNOWN_LOCAL, "recorder that does not say how much local memory kernels had"},
	{GP_UNKNOWN_CONTEXTS, "recorder that does not say what contexts and streams are"},
};

static bool is_loss(size_t counter)
{
	enum gp_loss_kind concern = gp_loss_kind_of(counter);

	return concern == GP_LOSS_LOSS || concern == GP_LOSS_TEXT_LOSS;
}

void gp_missing_each(const struct gp_model *model,
		     void (*take)(void *context, const char *what, uint64_t count), void *context)
{
	const struct gp_losses *losses = &model->losses;
	const struct {
		const char *what;
		uint64_t count;
	} others[] = {
		{"bytes of the trace are damaged", losses->damaged_bytes},
		{"trace without an end: what came last may be missing", !losses->closed},
		{"launches without an operation", losses->launches_without_op},
		{"copies and memsets without an operation", losses->copies_in_flight},
		{"operations without a call", losses->ops_without_call},
		{"operations without times", losses->ops_untimed},
		{"operations whose time their stream contradicts", losses->ops_contradicted},
	};

	for (size_t i = 0; i < GP_COUNTERS; i++)
		if (is_loss(i) && model->counters[i] > 0)
			take(context, meanings[i], model->counters[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].count > 0)
			take(context, others[i].what, others[i].count);
	for (size_t i = 0; i < sizeof(untold) / sizeof(untold[0]); i++)
		if ((model->unknown & untold[i].unknown) != 0)
			take(context, untold[i].what, 1);
}

void gp_missing_of_part(const struct gp_model *model,
			void (*take)(void *context, const char *what, uint64_t count),
			void *context)
{
	if (model->part.is_one)
		take(context,
		     "trace read in parts: how many launches and copies lack their operation, operations their call or times, is not known here, but to gpuprof summary",
		     1);
}
