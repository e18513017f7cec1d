/* lines: the columns of gp_breakdown_line, for readers of its rows. */
#ifndef REPORT_TABLES_BY_LINES_H
#define REPORT_TABLES_BY_LINES_H

enum gp_line_column {
	GP_LINE_SHARE,
	GP_LINE_TOTAL,
	GP_LINE_LAUNCHED,
	GP_LINE_BACKWARD,
	GP_LINE_LIKELY,
	GP_LINE_ESTIMATED,
	GP_LINE_COUNT,
	GP_LINE_PID,
	GP_LINE_PLACE,
	/* of a sampled run only, and last: the other columns keep their numbers */
	GP_LINE_WHOLE_RUN,
	GP_LINE_ERROR,
	GP_LINE_COLUMNS
};

#endif
