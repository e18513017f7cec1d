/*
 * run: `gpuprof run`, the command behind gpuprof-run: a program under the profiler, then one
 * summary of its tree.
 *
 * The program must not be able to tell: it keeps the terminal, the process group, standard input,
 * output and error, its signals and its exit status.  We write to stderr before it starts (only
 * when something is wrong) and after it has ended.
 */
#ifndef REPORT_RUN_RUN_H
#define REPORT_RUN_RUN_H

/* Exit statuses of our own, those of env(1) and timeout(1).  Everything else is the program's. */
#define GP_RUN_FAILED                                                                              \
	125 /* gpuprof-run itself failed: bad option, library missing, unwritable folder */
#define GP_RUN_NOT_EXECUTABLE 126 /* the program was found but cannot be run */
#define GP_RUN_NOT_FOUND      127

/*
 * argv[0] is "run", then options, then the program and its arguments.  Returns the exit status, or
 * does not return: where the program was killed by a signal, so are we.
 */
int gp_command_run(int argc, char **argv);

#endif
