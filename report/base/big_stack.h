/*
 * stack_room: a stack that is large enough, whatever `ulimit -s` allows.  Names of C++ and the
 * libraries that read symbols take megabytes of it, and a program that gpuprof makes a summary of
 * may have made the limit small, for good (ulimit -Hs).
 */
#ifndef REPORT_BASE_BIG_STACK_H
#define REPORT_BASE_BIG_STACK_H

/* What a command may count on, and each thread that it starts. */
#define GP_STACK_ROOM_BYTES (8u << 20)

/*
 * Run a command, where the limit is lower on a thread of its own; signals interrupt the command
 * there, too.  Threads started from then on have as much.  Where there is no memory for such a
 * thread it runs on what there is.  Returns what the command returns.
 */
int gp_big_stack_run(int (*command)(int argc, char **argv), int argc, char **argv);

#endif
