/*
 * phase_lines: the phases of the user's lines, learned from the calls made there whose phases are
 * known.
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_LINES_H
#define REPORT_ANALYSIS_LOOP_PHASE_LINES_H

#include "report/analysis/loop/phase_marks.h"
#include "report/model/model.h"

/* A line has a phase if so many of its calls do. */
#define GP_PHASE_LINE_PERCENT 80u

struct gp_phase_lines;

/* NULL if there is no memory.  The model must outlive it. */
struct gp_phase_lines *gp_phase_lines_new(const struct gp_model *model);
void gp_phase_lines_free(struct gp_phase_lines *lines);

/* A call from that stack is of that phase: the user's lines on it learn. */
void gp_phase_lines_add(struct gp_phase_lines *lines, uint32_t stack, enum gp_phase_kind phase);

/* The phase of the innermost line of the user's on a stack that has calls; or NONE. */
enum gp_phase_kind gp_phase_lines_find(struct gp_phase_lines *lines, uint32_t stack);

#endif
