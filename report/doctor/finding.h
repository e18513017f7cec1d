/* finding: what a check of `gpuprof doctor` says. */
#ifndef REPORT_DOCTOR_FINDING_H
#define REPORT_DOCTOR_FINDING_H

#include <stddef.h>
#include <stdio.h>

enum gp_verdict {
	GP_CHECK_NOT_MADE, /* it has nothing to say here */
	GP_CHECK_OK,
	GP_CHECK_WARNING, /* it works, with less than there could be */
	GP_CHECK_FAILS,   /* nothing can be recorded, or not what the user wants */
	GP_CHECK_VERDICTS
};

struct gp_finding {
	enum gp_verdict verdict;
	char text[1024]; /* what it means for the user, in one line */
	char mend[1024]; /* the command that mends it; "" = none */
};

__attribute__((format(printf, 3, 4))) void
gp_finding_set(struct gp_finding *finding, enum gp_verdict verdict, const char *format, ...);

__attribute__((format(printf, 2, 3))) void gp_finding_mend(struct gp_finding *finding,
							   const char *format, ...);

/* A line, and one with the command where there is one; nothing for what was not made. */
void gp_finding_print(const struct gp_finding *finding, const char *name, FILE *out);

#endif
