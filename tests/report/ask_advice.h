/* ask_advice: the advice on models, whose sentences are whole, and what one rule found. */
#ifndef TESTS_REPORT_ASK_ADVICE_H
#define TESTS_REPORT_ASK_ADVICE_H

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "tests/unit.h"

/* Outside of brackets each value of a sentence is there: else a misspelled one would be nothing. */
static inline void check_values(const char *sentence, const struct gp_fields *values)
{
	uint32_t brackets = 0;

	for (const char *at = sentence; *at != '\0'; at++) {
		brackets += *at == '[';
		brackets -= *at == ']';
		if (*at != '{' || brackets > 0 || at[1] == '?' || at[1] == '!')
			continue;
		char *id = strndup(at + 1, strcspn(at + 1, "}"));

		if (!gp_fields_value(values, id))
			fail_msg("no value {%s} for: %s", id, sentence);
		free(id);
	}
}

static inline struct gp_advice ask(struct gp_model *const *models, size_t count)
{
	struct gp_advice advice;

	assert_int_equal(gp_advice_of(models, count, &advice), 0);
	for (uint32_t i = 0; i < advice.count; i++) {
		check_values(advice.findings[i].rule->found, &advice.findings[i].values.facts);
		check_values(advice.findings[i].rule->change, &advice.findings[i].values.facts);
	}
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

/* A rule that needs to know where launches are says nothing of a model without stacks; frees it. */
static inline void check_needs_stacks(struct gp_model *model, const char *rule)
{
	struct gp_advice advice;

	for (uint32_t i = 0; i < model->call_count; i++)
		model->calls[i].stack = GP_NONE;
	advice = ask(&model, 1);
	assert_null(find(&advice, rule));
	gp_advice_free(&advice);
	gp_model_free(model);
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
