/*
 * term_signal: a process that SIGTERM ends hands over what CUPTI has before it dies.
 *
 * Workers of multiprocessing, torchrun or Slurm end by SIGTERM without a handler of their own.  Our
 * handler completes the trace, within the time limit of an end by _exit(), and then the default
 * action ends the process.  sigaction() and signal() are interposed: the program still sees its own
 * action, and a handler that it installs replaces ours.
 *
 * The handler is installed only while the action is the default one, and not in process 1, for
 * which the kernel ignores the signal then.
 */
#ifndef INJECT_TERM_SIGNAL_H
#define INJECT_TERM_SIGNAL_H

/* At the first context.  close() completes the trace; it is called in the signal handler. */
void gp_term_signal_install(void (*close)(void));

#endif
