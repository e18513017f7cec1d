/*
 * moved_lines: which line of a source file, as one run has it, is which line of the file as another
 * run has it, after an edit.
 *
 * Of all ways to pair lines of the same function in their order, the best one has most pairs for
 * its changes of the shift, the distance between the lines of a pair.  A change of the shift costs
 * less than the pair that it allows, and two cost more: an edit moves all lines after it, so a
 * single line whose neighbors did not move is another line.  The first line's shift counts as
 * changed unless it is 0.  Where two best ways pair a line differently, it has no pair.
 */
#ifndef REPORT_DIFF_MOVED_LINES_H
#define REPORT_DIFF_MOVED_LINES_H

#include <stddef.h>
#include <stdint.h>

/* A line that a run names. */
struct gp_code_line {
	const char *function; /* not terminated */
	size_t length;
	uint32_t line;
};

/* More pairs of lines in a file are not compared. */
#define GP_MOVED_LINES_PAIRS (4u << 20)

/*
 * The lines of one file, both sorted by line and function, each once.  found[i] becomes the index
 * in b of a's line i, or GP_NONE; if there are too many to compare, that of the equal line.
 */
void gp_moved_lines_match(const struct gp_code_line *a, uint32_t a_count,
			  const struct gp_code_line *b, uint32_t b_count, uint32_t *found);

/* Order by line and function. */
int gp_code_line_compare(const struct gp_code_line *a, const struct gp_code_line *b);

#endif
