/*
 * term_signal: a process that SIGTERM ends completes its trace first.
 *
 * SIGTERM ends workers of multiprocessing, torchrun or Slurm, which have no handler for it.  Our
 * handler completes the trace, within the time limit of an end by _exit(); then the default action
 * ends the process.  sigaction() and signal() are interposed: the program still sees its own
 * action, and a handler that it installs replaces ours.
 *
 * The handler is installed only while the action is the default one, and not in process 1: there
 * the kernel ignores a signal with the default action.
 */
#ifndef INJECT_TERM_SIGNAL_H
#define INJECT_TERM_SIGNAL_H

/* At the first context.  close() completes the trace; it is called in the signal handler. */
void gp_term_signal_install(void (*close)(void));

#endif
