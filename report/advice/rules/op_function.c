#include "report/advice/rules/op_function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

#define UNREAD (GP_NO_FUNCTION - 1)

/* Of the user's code, without its line. */
static uint64_t function_of_site(struct gp_advisor *advisor, uint32_t site)
{
	struct gp_call_site at = gp_call_sites_at(advisor->sites, site);
	size_t length = strlen(at.place);
	char function[512];

	if (!at.is_own || !gp_advisor_knows(advisor, site))
		return GP_NO_FUNCTION;
	gp_call_site_line(at.place, &length);
	snprintf(function, sizeof(function), "%.*s", (int)length, at.place);
	return gp_advisor_text(advisor, function);
}

static uint64_t text_at(struct gp_advisor *advisor, struct gp_op_functions *functions,
			uint32_t site)
{
	while (functions->count <= site) {
		gp_array_grow(&functions->texts, &functions->capacity, functions->count,
			      sizeof(*functions->texts));
		functions->texts[functions->count++] = UNREAD;
	}
	if (functions->texts[site] == UNREAD)
		functions->texts[site] = function_of_site(advisor, site);
	return functions->texts[site];
}

struct gp_op_function gp_op_function_of(struct gp_advisor *advisor,
					struct gp_op_functions *functions, uint32_t op)
{
	const struct gp_call *call =
		gp_model_op_stack_call(advisor->model, &advisor->model->ops[op]);
	uint32_t stack;
	enum gp_backward_answer answer = gp_backward_answer_of(
		&advisor->basis->backward[advisor->process], advisor->model, call, &stack);
	struct gp_op_function found = {.text = GP_NO_FUNCTION,
				       .site = GP_NO_SITE,
				       .is_backward = answer != GP_BACKWARD_NOT};

	if (!call || *gp_backward_reason(answer) != '\0')
		return found;
	found.site = gp_advisor_site(advisor, call);
	if (found.site != GP_NO_SITE)
		found.text = text_at(advisor, functions, found.site);
	return found;
}

void gp_op_functions_place(struct gp_advisor *advisor, const struct gp_op_functions *functions,
			   const struct gp_launch_places *places, struct gp_case *found)
{
	struct gp_launch_places own = {0};
	uint64_t text;

	for (uint32_t site = 0; site < places->count; site++)
		if (places->site_ns[site] > 0 && functions->texts[site] == found->detail)
			gp_launch_places_add(&own, site, places->site_ns[site]);
	gp_launch_places_put(advisor, &own, found, "launch them", &text);
	gp_launch_places_free(&own);
}

void gp_op_functions_free(struct gp_op_functions *functions)
{
	free(functions->texts);
	*functions = (struct gp_op_functions){0};
}
