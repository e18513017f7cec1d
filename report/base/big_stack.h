/*
 * big_stack: a stack that is large enough, whatever `ulimit -s` allows. C++ names and the libraries
 * that read symbols take megabytes of stack, and a profiled program may have lowered the limit for
 * good (`ulimit -Hs`) before gpuprof prints its summary.
 */
#ifndef REPORT_BASE_BIG_STACK_H
#define REPORT_BASE_BIG_STACK_H

/* The stack of a command and of each thread that it starts. */
#define GP_STACK_BYTES (8u << 20)

/*
 * Runs a command. If the stack limit is lower than GP_STACK_BYTES, the command runs on a thread of
 * its own, where signals interrupt it as usual. Threads started later get GP_STACK_BYTES, too.
 * Without memory for the thread the command runs on the existing stack. Returns the command's
 * result.
 */
int gp_big_stack_run(int (*command)(int argc, char **argv), int argc, char **argv);

#endif
