/*
 * keep_links: stores the speed of the links (PCIe, NVLink) that copies or NCCL's kernels used in the
 * model and the trace, so that their bandwidth can be compared with that of the link.
 *
 * It runs after the process has ended, on the same machine. The profiled process pays nothing. A
 * child of this process asks the driver's management library (report/model/nvml_links.h), which is
 * slow and opens files.
 */
#ifndef REPORT_FINISH_KEEP_LINKS_H
#define REPORT_FINISH_KEEP_LINKS_H

#include "report/model/load_options.h"
#include "report/model/model.h"

/*
 * Finds the links of the model's devices if the model has enough copies over links, or kernels of
 * NCCL, and does not know them. Appends them to the trace that options->save_to names, if any. Failures leave the
 * links unknown. Pass the options that the model was loaded with: their progress callback is called
 * during the wait, which takes three seconds at most.
 */
void gp_keep_links(struct gp_model *model, const struct gp_load_options *options);

#endif
