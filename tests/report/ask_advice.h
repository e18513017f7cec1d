/* ask_advice: the advice on models, and what one rule found. */
#ifndef TESTS_REPORT_ASK_ADVICE_H
#define TESTS_REPORT_ASK_ADVICE_H

#include <string.h>

#include "report/advice/advice.h"
#include "tests/unit.h"

static inline struct gp_advice ask(struct gp_model *const *models, size_t count)
{
	struct gp_advice advice;

	assert_int_equal(gp_advice_of(models, count, &advice), 0);
	return advice;
}

/* NULL: it found nothing. */
static inline const struct gp_finding *find(const struct gp_advice *advice, const char *rule)
{
	for (uint32_t i = 0; i < advice->count; i++)
		if (strcmp(advice->findings[i].rule->id, rule) == 0)
			return &advice->findings[i];
	return NULL;
}

/* A value of a finding: its text, "" = none; or its number, 0 = none. */
static inline const char *text_of(const struct gp_finding *found, const char *id)
{
	return gp_fields_text(&found->values.facts, id);
}

static inline uint64_t value_of(const struct gp_finding *found, const char *id)
{
	const struct gp_value *value = gp_fields_value(&found->values.facts, id);

	return value && value->kind == GP_VALUE_WHOLE ? value->whole : 0;
}

#endif
