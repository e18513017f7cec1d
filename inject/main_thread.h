/*
 * main_thread: handles a main thread that leaves by pthread_exit() while other threads go on.  The
 * C library calls exit(0) when the last thread ends; with profiler threads among them that would
 * never happen, so a watcher thread polls and calls it.
 */
#ifndef INJECT_MAIN_THREAD_H
#define INJECT_MAIN_THREAD_H

/*
 * By the main thread, once, for this process and its forked children; has no effect on other
 * threads.
 */
void gp_main_thread_watch(void);

#endif
