/*
 * frame_marking: a mark for each frame of a model, made of those of its functions and its callers.
 *
 * Functions of native code are looked up only in the modules that the caller wants; of Python's
 * code once for all lines of a function.
 */
#ifndef REPORT_ANALYSIS_LOOP_FRAME_MARKING_H
#define REPORT_ANALYSIS_LOOP_FRAME_MARKING_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/model.h"
#include "report/symbols/symbols.h"

struct gp_frame_marking {
	size_t mark_bytes; /* zeros are no mark */
	bool (*wants_module)(const char *path);
	/* Of a function alone; mark is zeros before. */
	void (*of_place)(const void *context, const struct gp_place *place, void *mark);
	/* To the mark of the callers comes that of a function that they called. */
	void (*add)(void *mark, const void *inner);
	const void *context;
};

/* marks: one for each of the model's frames, zeros before. */
void gp_frames_mark(const struct gp_model *model, const struct gp_frame_marking *marking,
		    void *marks);

#endif
