#include "report/analysis/loop/phase_lines.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/tally.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/symbols.h"

#define UNKNOWN GP_NONE
#define NO_LINE (GP_NONE - 1)

struct line {
	uint32_t calls[GP_PHASE_KINDS];
};

struct gp_phase_lines {
	const struct gp_model *model;
	struct gp_symbols *symbols;
	uint32_t *of_frames;     /* by index in frames: the line's number, or one of the above */
	struct gp_tally numbers; /* an index: its rows are parallel to lines */
	struct line *lines;
	uint32_t capacity;
};

struct gp_phase_lines *gp_phase_lines_new(const struct gp_model *model)
{
	struct gp_phase_lines *lines = calloc(1, sizeof(*lines));

	lines->model = model;
	lines->symbols = gp_symbols_new();
	lines->of_frames = malloc(((size_t)model->frame_count + 1) * sizeof(*lines->of_frames));
	for (uint32_t i = 0; i < model->frame_count; i++)
		lines->of_frames[i] = UNKNOWN;
	return lines;
}

void gp_phase_lines_free(struct gp_phase_lines *lines)
{
	if (!lines)
		return;
	gp_symbols_free(lines->symbols);
	free(lines->of_frames);
	gp_tally_free(&lines->numbers);
	free(lines->lines);
	free(lines);
}

/* The number of a line of the user's Python code; NO_LINE: it is none, or there is no memory. */
static uint32_t find_line(struct gp_phase_lines *lines, uint32_t frame)
{
	const struct gp_frame *at = &lines->model->frames[frame];
	uint64_t key[GP_TALLY_KEYS] = {at->origin};
	const struct gp_place *place;
	uint32_t before = lines->numbers.count;
	size_t count;

	if (at->kind != GP_FRAME_PYTHON || at->origin == GP_NONE)
		return NO_LINE;
	place = gp_symbols_find(lines->symbols, lines->model, frame, &count);
	if (*place->file == '\0' || gp_code_owner_of_place(place) != GP_CODE_OWN)
		return NO_LINE; /* or an operator, which runs in each phase */
	key[1] = place->line;
	gp_tally_find(&lines->numbers, key);
	if (lines->numbers.last == before) {
		gp_array_grow(&lines->lines, &lines->capacity, before, sizeof(*lines->lines));
		lines->lines[before] = (struct line){{0}};
	}
	return lines->numbers.last;
}

static uint32_t line_of(struct gp_phase_lines *lines, uint32_t frame)
{
	if (lines->of_frames[frame] == UNKNOWN)
		lines->of_frames[frame] = find_line(lines, frame);
	return lines->of_frames[frame];
}

void gp_phase_lines_add(struct gp_phase_lines *lines, uint32_t stack, enum gp_phase_kind phase)
{
	for (uint32_t at = stack; at != GP_NONE; at = lines->model->frames[at].parent) {
		uint32_t line = line_of(lines, at);

		if (line != NO_LINE)
			lines->lines[line].calls[phase]++;
	}
}

enum gp_phase_kind gp_phase_lines_find(struct gp_phase_lines *lines, uint32_t stack)
{
	for (uint32_t at = stack; at != GP_NONE; at = lines->model->frames[at].parent) {
		uint32_t line = line_of(lines, at);
		uint64_t all = 0;

		for (int i = 0; line != NO_LINE && i < GP_PHASE_KINDS; i++)
			all += lines->lines[line].calls[i];
		for (int i = 0; all > 0 && i < GP_PHASE_KINDS; i++)
			if ((uint64_t)lines->lines[line].calls[i] * 100 >=
			    all * GP_PHASE_LINE_PERCENT)
				return (enum gp_phase_kind)i;
		if (all > 0)
			return GP_PHASE_NONE;
	}
	return GP_PHASE_NONE;
}
