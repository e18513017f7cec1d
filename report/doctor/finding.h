/* finding: the result of a check of `gpuprof doctor`. */
#ifndef REPORT_DOCTOR_FINDING_H
#define REPORT_DOCTOR_FINDING_H

#include <stddef.h>
#include <stdio.h>

enum gp_doctor_verdict {
	GP_CHECK_NOT_MADE, /* not applicable here */
	GP_CHECK_OK,
	GP_CHECK_WARNING, /* it works, with restrictions */
	GP_CHECK_FAILS,   /* recording does not work, or not as the user wants */
	GP_CHECK_VERDICTS
};

struct gp_doctor_finding {
	enum gp_doctor_verdict verdict;
	char text[1024]; /* the effect on the user, in one line */
	char fix[1024];  /* the command that fixes it; "" = none */
};

__attribute__((format(printf, 3, 4))) void gp_doctor_finding_set(struct gp_doctor_finding *finding,
								 enum gp_doctor_verdict verdict,
								 const char *format, ...);

__attribute__((format(printf, 2, 3))) void gp_doctor_finding_fix(struct gp_doctor_finding *finding,
								 const char *format, ...);

/*
 * Prints a line, and one with the command if there is one. Prints nothing for a check that was not
 * made.
 */
void gp_doctor_finding_print(const struct gp_doctor_finding *finding, const char *name, FILE *out);

#endif
