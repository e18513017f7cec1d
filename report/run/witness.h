/*
 * witness: stands in for the program in the process group of this process.
 *
 * The kernel does not tell the receiver of a signal who else got it. The witness is a second
 * process in the group that blocks all signals and, when asked, says which ones came: those to the
 * group, and those that somebody sent to each process. Its command line contains that of the
 * program, so that `pkill -f` finds both or neither.
 *
 * It ends with this process. If this process is killed, the witness kills the program: its killer
 * meant the program, which nothing else would end. PR_SET_PDEATHSIG is not used: the program could
 * see it, and the kernel clears it at a change of the user.
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

/*
 * All signals must be blocked. arguments: of the program. Returns 0, or -errno without any change.
 */
int gp_witness_start(struct gp_witness *witness, char **arguments);

/*
 * From now on, if this process is killed, the witness kills the program, a child of this process.
 */
void gp_witness_guard(struct gp_witness *witness, pid_t program);

/*
 * Whether the last received signal of that number came to more than this process. Returns false if
 * the witness does not answer promptly (it may be stopped).
 */
bool gp_witness_saw(struct gp_witness *witness, int number);

void gp_witness_end(struct gp_witness *witness);

#endif
