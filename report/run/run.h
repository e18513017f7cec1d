/*
 * run: `gpuprof run`, the command behind gpuprof-run: runs a program under the profiler, then
 * prints one summary of its process tree.
 *
 * The program must not notice: it keeps the terminal, the process group, the standard streams, its
 * signals and its exit status. gpuprof writes to stderr only before the program starts (if
 * something is wrong) and after its end.
 */
#ifndef REPORT_RUN_RUN_H
#define REPORT_RUN_RUN_H

/*
 * Exit statuses of gpuprof-run itself, as of env(1) and timeout(1). All others are the program's.
 */
#define GP_RUN_FAILED         125 /* bad option, missing library, unwritable folder */
#define GP_RUN_NOT_EXECUTABLE 126 /* found, but it cannot be run */
#define GP_RUN_NOT_FOUND      127

/*
 * argv[0] is "run"; options, the program and its arguments follow. Returns the exit status. If a
 * signal killed the program, the same signal ends this process.
 */
int gp_command_run(int argc, char **argv);

#endif
