/*
 * next_wait: waits that are only moved.  Where a thread waits for the GPU, and behind that in
 * another call before it launches or copies anything, that one waits for the same work if the first
 * one is left out: what the GPU's idle time after them could save, only both save.
 */
#ifndef REPORT_ADVICE_RULES_NEXT_WAIT_H
#define REPORT_ADVICE_RULES_NEXT_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"

/* What a rule of waits keeps of a case. */
struct gp_next_wait {
	uint64_t ns; /* that is saved only if the next call goes, too */
	uint64_t votes_ns;
	uint64_t api;  /* its text, ... */
	uint32_t site; /* ... and where it is: of that with most of it */
};

/* Such a call that could have saved so much. */
void gp_next_wait_add(struct gp_advisor *advisor, struct gp_next_wait *own,
		      const struct gp_call *call, uint64_t saves_ns);

/*
 * " (without them cudaFree at step (x.cu:7) waits)", and "cudaFree has to go from there, too; ";
 * nothing where half of the case's savings need no other call.
 */
void gp_next_wait_tell(const struct gp_advisor *advisor, const struct gp_case *found,
		       const struct gp_next_wait *own, FILE *out);
void gp_next_wait_advise(const struct gp_advisor *advisor, const struct gp_case *found,
			 const struct gp_next_wait *own, FILE *out);

/* Whether a call was mostly such a wait: then nothing is saved by leaving out that call alone. */
bool gp_next_wait_follows(const struct gp_advisor *advisor, const struct gp_call *call);

#endif
