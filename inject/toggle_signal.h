/* toggle_signal: a signal by which the user opens and closes the recording gate from outside. */
#ifndef INJECT_TOGGLE_SIGNAL_H
#define INJECT_TOGGLE_SIGNAL_H

#include <stdbool.h>

/*
 * Handle the signal of this name ("USR1").  The handler calls wake(); NULL: not yet, but the signal
 * no longer ends the program, and counts later.  A second call sets another wake().  Returns 0,
 * -EINVAL for an unknown name, or -EBUSY if the program handles the signal itself.  A later handler
 * of the program replaces this one.
 */
int gp_toggle_signal_install(const char *name, void (*wake)(void));

/* Whether the signal came an odd number of times since the last call. */
bool gp_toggle_signal_take(void);

#endif
