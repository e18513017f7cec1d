/* toggle: a signal by which the user opens and closes the gate from outside. */
#ifndef INJECT_TOGGLE_H
#define INJECT_TOGGLE_H

#include <stdbool.h>

/*
 * Handle the signal of this name ("USR1").  wake() is called in the handler; NULL: nobody waits for it yet, but the signal ends the program
 * no more, and counts later.  Again with another wake() it takes that.  Returns 0, -EINVAL for a name that is not
 * known, or -EBUSY where the program handles the signal itself.  A handler that it sets later replaces this one.
 */
int gp_toggle_signal_install(const char *name, void (*wake)(void));

/* Whether the signal came an odd number of times since the last question. */
bool gp_toggle_signal_take(void);

#endif
