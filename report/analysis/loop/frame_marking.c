#include "report/analysis/loop/frame_marking.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const struct gp_model *model;
	const struct gp_frame_marking *marking;
	struct gp_symbols *symbols;
	bool *modules; /* whether it is wanted */
	/* by text: the mark of that Python code, which many frames share */
	char *codes;
	bool *has_code;
	char *mark; /* scratch: of one place */
};

static void open_search(struct search *search)
{
	const struct gp_model *model = search->model;
	size_t bytes = search->marking->mark_bytes;

	search->symbols = gp_symbols_new();
	search->modules = calloc((size_t)model->module_count + 1, sizeof(*search->modules));
	search->codes = calloc((size_t)model->text_count + 1, bytes);
	search->has_code = calloc((size_t)model->text_count + 1, sizeof(*search->has_code));
	search->mark = malloc(bytes);
	for (uint32_t i = 0; i < model->module_count; i++)
		search->modules[i] = search->marking->wants_module(
			gp_model_module_path(model, &model->modules[i]));
}

static void close_search(struct search *search)
{
	gp_symbols_free(search->symbols);
	free(search->modules);
	free(search->codes);
	free(search->has_code);
	free(search->mark);
}

static const struct gp_place *places_of(const struct search *search, uint32_t frame, size_t *count)
{
	return gp_symbols_find(search->symbols, search->model, frame, count);
}

/* The functions of a frame, the outermost of inlined ones first. */
static void add_native(struct search *search, uint32_t frame, char *mark)
{
	const struct gp_frame_marking *marking = search->marking;
	size_t count;
	const struct gp_place *places = places_of(search, frame, &count);

	while (count-- > 0) {
		memset(search->mark, 0, marking->mark_bytes);
		marking->of_place(marking->context, &places[count], search->mark);
		marking->add(mark, search->mark);
	}
}

static void add_python(struct search *search, uint32_t frame, char *mark)
{
	const struct gp_frame_marking *marking = search->marking;
	uint32_t origin = search->model->frames[frame].origin;
	char *code = search->codes + origin * marking->mark_bytes;
	size_t count;

	if (!search->has_code[origin])
		marking->of_place(marking->context, places_of(search, frame, &count), code);
	search->has_code[origin] = true;
	marking->add(mark, code);
}

static void add_own(struct search *search, uint32_t index, char *mark)
{
	const struct gp_frame *frame = &search->model->frames[index];

	if (frame->origin == GP_NONE)
		return;
	if (frame->kind == GP_FRAME_PYTHON)
		add_python(search, index, mark);
	else if (frame->kind == GP_FRAME_NATIVE && search->modules[frame->origin])
		add_native(search, index, mark);
}

void gp_frames_mark(const struct gp_model *model, const struct gp_frame_marking *marking,
		    void *marks)
{
	struct search search = {.model = model, .marking = marking};
	size_t bytes = marking->mark_bytes;

	open_search(&search);
	for (uint32_t i = 0; i < model->frame_count; i++) {
		char *mark = (char *)marks + i * bytes;

		if (model->frames[i].parent != GP_NONE)
			memcpy(mark, (char *)marks + model->frames[i].parent * bytes, bytes);
		add_own(&search, i, mark);
	}
	close_search(&search);
}
