/*
 * errand: calls of CUPTI's and the driver's that may take as long as a kernel does, on a thread of their own.
 *
 * A flush waits for the kernel that runs where another was launched behind it for the first time (docs/design/cupti-notes.md, 3), and what the
 * driver is asked of a GPU that hangs may never be answered.  Who sends an errand goes on meanwhile.  One errand at a time.
 */
#ifndef INJECT_ERRAND_H
#define INJECT_ERRAND_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Start the thread, and wait until it asks the system for nothing more to be able to go on, not for long.  run: does an errand there; wake: there,
 * behind each.  Returns 0 or -errno.
 */
int gp_bounded_call_begin(void (*run)(uint32_t call), void (*wake)(void));

/* ---- who sends: one thread ---- */

/* errand: what run() gets.  False: one is out, or they were closed. */
bool gp_bounded_call_send(uint32_t call);

/* None is out, and what the last one has left is complete.  Never again once they are closed. */
bool gp_bounded_call_is_done(void);

/* ---- in an errand ---- */

/* Whether they are not closed: what does more than one call asks before each. */
bool gp_bounded_call_is_wanted(void);

/* ---- any thread ---- */

/* No errand begins any more, also not one that was sent.  The thread ends when it is back from the one that it is on. */
void gp_bounded_call_close(void);

#endif
