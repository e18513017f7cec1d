/*
 * main_thread: what happens when the main thread leaves by pthread_exit(), and the program goes on with others.  The C library ends it with
 * exit(0) when the last of them ends; with threads of ours among them it would wait for ever, so that one more of ours looks, and does that.
 */
#ifndef INJECT_MAIN_THREAD_H
#define INJECT_MAIN_THREAD_H

/* By the main thread, once, for this process and its forked children; by others it does nothing. */
void gp_main_thread_watch(void);

#endif
