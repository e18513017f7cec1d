/*
 * sequence_text: how a sequence of operations is named, by its first ones: "a > b (3 times) > c > d
 * > 8 more".
 */
#ifndef REPORT_ANALYSIS_LOOP_SEQUENCE_TEXT_H
#define REPORT_ANALYSIS_LOOP_SEQUENCE_TEXT_H

#include "report/analysis/loop/sequences.h"
#include "report/symbols/names.h"

#define GP_SEQUENCE_TEXT_BYTES 512

void gp_sequence_text(char text[GP_SEQUENCE_TEXT_BYTES], struct gp_names *names,
		      const struct gp_model *model, const struct gp_sequences *sequences,
		      const struct gp_sequence *row);

#endif
