/*
 * keep_links: how fast the links are that a trace's copies went over goes into the model and the
 * trace when its process has ended, on the machine it ran on: what a copy reached can then be held
 * against what it could have.
 *
 * The profiled process is not asked, and pays nothing: it knows its links only by the driver's
 * management library, which opens files and takes its time.  It is asked by a child of this process
 * (report/model/nvml_links.h).
 */
#ifndef REPORT_FINISH_KEEP_LINKS_H
#define REPORT_FINISH_KEEP_LINKS_H

#include "report/model/model.h"

/*
 * Find the links of the model's devices, where it has copies of some size over them and does not
 * know them yet, and append them to the trace that the options save to, if they name one.  What
 * cannot be found or written stays unknown.  The options are those that the model was loaded with:
 * their progress is called while this waits, three seconds at most.
 */
void gp_keep_links(struct gp_model *model, const struct gp_load_options *options);

#endif
