#include "report/diff/code_lines.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/base/group_by.h"
#include "report/base/text/text.h"
#include "report/symbols/code_owner.h"

/* As the name of a leak has it. */
static void add_place(struct gp_groups *lines, const struct gp_place *place)
{
	const char *file = gp_place_file(place);
	char *text;

	if (*file == '\0' || place->line == 0 || gp_code_owner_of_frame(place) != GP_CODE_OWN)
		return;
	asprintf(&text, "%s (%s:%u)", place->function, file, place->line);
	gp_groups_find(lines, text);
	free(text);
}

static void add_frame(struct gp_groups *lines, struct gp_symbols *symbols,
		      const struct gp_model *model, uint32_t frame)
{
	const struct gp_place *places;
	size_t count;

	if (!gp_code_may_be_own(model, &model->frames[frame]))
		return;
	places = gp_symbols_find(symbols, model, frame, &count);
	for (size_t i = 0; i < count; i++)
		add_place(lines, &places[i]);
}

static void add_lines_of(struct gp_groups *lines, const struct gp_model *model)
{
	struct gp_symbols *symbols = gp_symbols_new();
	bool *seen = calloc((size_t)model->frame_count + 1, sizeof(*seen));

	for (uint32_t i = 0; i < model->call_count; i++)
		for (uint32_t at = model->calls[i].stack; at != GP_NONE && !seen[at];
		     at = model->frames[at].parent) {
			seen[at] = true;
			add_frame(lines, symbols, model, at);
		}
	free(seen);
	gp_symbols_free(symbols);
}

static void take_names(struct gp_named_list *list, const struct gp_groups *lines)
{
	list->rows = calloc((size_t)lines->count + 1, sizeof(*list->rows));
	for (uint32_t i = 0; i < lines->count; i++) {
		struct gp_named_figure row = {.name = gp_text_escape(lines->rows[i].key),
					      .median_ns = (double)NAN,
					      .occupancy = (double)NAN};

		list->rows[list->count++] = row;
	}
}

void gp_code_lines_of(struct gp_model *const *models, size_t model_count,
		      struct gp_named_list *list)
{
	struct gp_groups lines = {0};

	for (size_t i = 0; i < model_count; i++)
		add_lines_of(&lines, models[i]);
	take_names(list, &lines);
	gp_groups_free(&lines);
}
