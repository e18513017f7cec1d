/*
 * ask: run a command that answers a question, may crash or hang, and is not to be heard or seen
 * meanwhile.
 */
#ifndef REPORT_DOCTOR_ASK_H
#define REPORT_DOCTOR_ASK_H

#include <stdbool.h>

struct gp_question {
	char *const *arguments;   /* [0]: the path of the program */
	char *const *environment; /* as execve takes it */
	const char *folder;       /* where it runs; NULL = here */
	unsigned limit_s;
};

#define GP_ANSWER_BYTES 16384

struct gp_answer {
	char out[GP_ANSWER_BYTES];    /* stdout, cut where it is longer; a text */
	char errors[GP_ANSWER_BYTES]; /* stderr, the same */
	int status;                   /* as waitpid() has it */
	bool timed_out; /* it was ended, and all that it started in its process group */
};

/*
 * From now on SIGINT, SIGTERM and SIGHUP end what is asked and nothing else: what was made for it
 * can be removed.  The one that came, or 0.
 */
void gp_ask_hold_signals(void);
int gp_ask_signal(void);

/*
 * Run it with stdin closed to all input, wait until it has ended, and do not wait for what it
 * leaves behind. Returns 0, whatever became of it (127 is its exit status where it could not be
 * run), or -errno: -EINTR after one of the signals.  Not to be called by two threads.
 */
int gp_ask(const struct gp_question *question, struct gp_answer *answer);

/* It ended by itself, with exit status 0. */
bool gp_answer_is_good(const struct gp_answer *answer);

#endif
