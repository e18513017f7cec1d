#include "report/analysis/loop/module_layers.h"

#include <stdint.h>
#include <string.h>

#include "report/analysis/loop/bounds.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/symbols/python_code.h"

#define LEAST_LAYERS 3u

/* The name of a module that torch.profiler recorded as a function; NULL: it is another frame. */
static const char *module_name(const struct gp_model *model, const struct gp_frame *frame)
{
	static const char module[] = "nn.Module: ";
	const struct gp_text *text;
	struct gp_python_code code;

	if (frame->kind != GP_FRAME_PYTHON || frame->origin == GP_NONE)
		return NULL;
	text = &model->texts[frame->origin];
	if (!gp_python_code_read(text->bytes, text->length, &code) ||
	    strncmp(code.name, module, sizeof(module) - 1) != 0)
		return NULL;
	return code.name;
}

/* Of the innermost module in which an iteration begins. */
static const char *first_module(const struct gp_model *model, const struct gp_iteration *row)
{
	uint32_t call = gp_bounds_call(model, row);
	uint32_t at = call != GP_NONE ? model->calls[call].stack : GP_NONE;
	const char *name = NULL;

	for (; at != GP_NONE && !name; at = model->frames[at].parent)
		name = module_name(model, &model->frames[at]);
	return name;
}

static int compare_names(const void *a, const void *b, const void *context)
{
	(void)context;
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool share_class(const char *a, const char *b)
{
	size_t length = strrchr(a, '_') ? (size_t)(strrchr(a, '_') - a) : strlen(a);

	return strncmp(a, b, length + 1) == 0;
}

/* Of sorted names: the most modules of one class. */
static uint32_t most_of_class(const char *const *names, uint32_t count)
{
	uint32_t most = 0, modules = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i > 0 && strcmp(names[i], names[i - 1]) == 0)
			continue;
		modules = i > 0 && share_class(names[i - 1], names[i]) ? modules + 1 : 1;
		most = modules > most ? modules : most;
	}
	return most;
}

void gp_module_layers_find(const struct gp_iterations *iterations, const struct gp_model *model,
			   bool *are_layers)
{
	const char **names = gp_spill_take(((size_t)iterations->count + 1) * sizeof(*names));
	uint32_t count = 0;

	*are_layers = false;
	for (uint32_t i = 0; i < iterations->count; i++) {
		const char *name = first_module(model, &iterations->rows[i]);

		if (name)
			names[count++] = name;
	}
	gp_array_sort(names, count, sizeof(*names), compare_names, NULL);
	*are_layers = most_of_class(names, count) >= LEAST_LAYERS;
	gp_spill_free(names);
}
