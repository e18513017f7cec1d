#include "report/analysis/loop/path_words.h"

#include <stdio.h>

#include "report/analysis/idle/activity.h"

static_assert(GP_PATH_WORDS_BYTES >= GP_ACTIVITY_LABEL_BYTES, "there is room for labels");

const char *gp_path_category(uint8_t kind)
{
	static const char *const categories[] = {
		[GP_PATH_OPERATION] = "GPU", [GP_PATH_CALL] = "API",      [GP_PATH_HOST] = "host",
		[GP_PATH_BESIDE] = "host",   [GP_PATH_LAUNCH] = "launch", [GP_PATH_STEP] = "launch",
	};

	return categories[kind];
}

static const char *name_op(char room[], const struct gp_model *model, const struct gp_op *op,
			   struct gp_names *names, bool full_names)
{
	const char *mangled = gp_model_kernel_name(model, op);

	gp_activity_label(room, op);
	if (op->kind != GP_OP_KERNEL)
		return room;
	return full_names ? gp_names_full(names, mangled) : gp_names_short(names, mangled);
}

/* The call at that time tells a thread's own activity. */
static const char *name_host(char room[], const struct gp_model *model,
			     const struct gp_path_step *step)
{
	const char *who = step->kind == GP_PATH_BESIDE ? " or other threads" : "";

	if (step->index == GP_NONE)
		snprintf(room, GP_PATH_WORDS_BYTES, "(the program%s, after its last call)", who);
	else
		snprintf(room, GP_PATH_WORDS_BYTES, "(the program%s, before %s)", who,
			 gp_model_api(model, model->calls[step->index].api).name);
	return room;
}

const char *gp_path_words(char room[], const struct gp_model *model,
			  const struct gp_path_step *step, struct gp_names *names, bool full_names)
{
	switch (step->kind) {
	case GP_PATH_OPERATION:
		return name_op(room, model, &model->ops[step->index], names, full_names);
	case GP_PATH_CALL:
		return gp_model_api(model, model->calls[step->index].api).name;
	case GP_PATH_HOST:
	case GP_PATH_BESIDE:
		return name_host(room, model, step);
	case GP_PATH_LAUNCH:
		return "(from a call's end to its operation's start)";
	default:
		return "(from one operation to the next)";
	}
}
