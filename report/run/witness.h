/*
 * witness: tells signals to this process alone from signals to its whole process group.
 *
 * The kernel does not tell the receiver. The witness is a second process in the group that blocks
 * all signals and, when asked, says which ones are pending: exactly the signals to the group. It
 * ends with this process, however that ends.
 */
#ifndef REPORT_RUN_WITNESS_H
#define REPORT_RUN_WITNESS_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include <stdbool.h>

/* Zeroed = no witness, no signals. */
struct gp_witness {
	pid_t pid;
	int line;             /* a socket for questions and answers */
	uint32_t seen[_NSIG]; /* reported by the witness, not yet asked for */
};

/* All signals must be blocked. Returns 0, or -errno without any change. */
int gp_witness_start(struct gp_witness *witness);

/*
 * Whether the last received signal of that number was sent to the group. Returns false if the
 * witness does not answer promptly (it may be stopped).
 */
bool gp_witness_saw(struct gp_witness *witness, int number);

void gp_witness_end(struct gp_witness *witness);

#endif
