/*
 * module_layers: whether the iterations that operations tell are the layers of a model: the operations
 * of a layer repeat, too.
 *
 * torch.profiler numbers the modules of a class ("nn.Module: DecoderLayer_11").  The steps of a
 * loop begin in the same module, layers in others of its class.
 */
#ifndef REPORT_ANALYSIS_LOOP_MODULE_LAYERS_H
#define REPORT_ANALYSIS_LOOP_MODULE_LAYERS_H

#include <stdbool.h>

#include "report/analysis/loop/iterations.h"
#include "report/model/model.h"

void gp_module_layers_find(const struct gp_iterations *iterations, const struct gp_model *model,
			   bool *are_layers);

#endif
