/*
 * ask: runs a command that may crash or hang, with a time limit, and captures its output.
 */
#ifndef REPORT_DOCTOR_ASK_H
#define REPORT_DOCTOR_ASK_H

#include <stdbool.h>

struct gp_question {
	char *const *arguments;   /* [0]: path of the program */
	char *const *environment; /* as for execve() */
	const char *folder;       /* working folder; NULL = the current one */
	unsigned limit_s;
};

#define GP_ANSWER_BYTES 16384

struct gp_doctor_answer {
	char out[GP_ANSWER_BYTES];    /* stdout, cut to fit; NUL-terminated */
	char errors[GP_ANSWER_BYTES]; /* stderr, likewise */
	int status;                   /* as from waitpid() */
	bool timed_out;               /* it was killed, with its process group */
};

/*
 * From now on SIGINT, SIGTERM and SIGHUP end only the running command, so that gpuprof can remove
 * temporary files. gp_ask_signal() returns the signal that came, or 0.
 */
void gp_ask_hold_signals(void);
int gp_ask_signal(void);

/*
 * Runs the command with /dev/null as stdin and waits for its end, but not for its children. Returns
 * 0 whatever the command's result is (exit status 127: it could not be started), or -errno; -EINTR
 * after one of the signals. Not thread-safe.
 */
int gp_ask(const struct gp_question *question, struct gp_doctor_answer *answer);

/* Whether it ended by itself with exit status 0. */
bool gp_answer_is_good(const struct gp_doctor_answer *answer);

#endif
