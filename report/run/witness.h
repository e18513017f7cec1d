/*
 * witness: was a signal sent to us alone, or to our whole process group?
 *
 * The kernel does not tell a receiver.  A second process in the group does: it has all signals
 * blocked and does nothing but say, when asked, which ones have come.  What is sent to the group
 * comes to it too, and nothing else does.  It ends when we do, however that is.
 */
#ifndef REPORT_RUN_WITNESS_H
#define REPORT_RUN_WITNESS_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include <stdbool.h>

/* Zeroed: there is none, and it has seen nothing. */
struct gp_witness {
	pid_t pid;
	int line;             /* the question and the answer */
	uint32_t seen[_NSIG]; /* told, and not asked for yet */
};

/* All signals must be blocked.  0 or -errno: then nothing has changed. */
int gp_witness_start(struct gp_witness *witness);

/*
 * Whether the signal of that number that we just took from the kernel was the group's.  False too
 * where the witness does not answer at once (somebody stopped it).
 */
bool gp_witness_saw(struct gp_witness *witness, int number);

void gp_witness_end(struct gp_witness *witness);

#endif
