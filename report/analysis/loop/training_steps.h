/*
 * training_steps: the steps of a training whose found iterations are parts of them.
 *
 * A training may match the boxes of each image of a batch, say, before it has the loss: of all that
 * repeats, the images are most.  But a step has a backward pass.  If two or more found iterations
 * begin between one backward pass and the next, for nine of ten passes, the step is all of them with
 * what is around: it begins with the copies from the host that come first after most backward passes,
 * else with the first of its iterations.  Backward passes that come without such iterations between them are steps
 * of another loop, or batches whose gradients are summed up: then nothing changes.
 *
 * A backward pass is what PyTorch's thread for it launched, without other work of the stream in
 * between.
 */
#ifndef REPORT_ANALYSIS_LOOP_TRAINING_STEPS_H
#define REPORT_ANALYSIS_LOOP_TRAINING_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/iterations.h"
#include "report/model/model.h"

struct gp_training_step {
	uint32_t first, end; /* operations of the model */
};

struct gp_training_steps {
	struct gp_training_step *rows; /* in order, each lasts to the next one */
	uint32_t count;                /* 0: the found iterations stay as they are */
};

/*
 * Of iterations that were found, in order, in a stream: the operations first to end - 1. Call
 * gp_training_steps_free().
 */
void gp_training_steps_of(struct gp_training_steps *steps, const struct gp_model *model,
			  const struct gp_iterations *parts, uint32_t first, uint32_t end);
void gp_training_steps_free(struct gp_training_steps *steps);

/* Whether PyTorch's engine runs backward passes in that thread, by its name. */
bool gp_training_is_backward_thread(const struct gp_model *model, uint32_t thread_id);

#endif
