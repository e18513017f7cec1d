#include "inject/main_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "collector/profiler_threads.h"
#include "collector/sys.h"
#include "inject/dlsym.h"

#define FIRST_POLL_NS   500000u
#define LONGEST_POLL_NS 100000000u
/* glibc ends a program when this counter reaches 0.  Exported for debuggers, from 2.34 on. */
#define LIBC_THREADS "__nptl_nthreads"

static pthread_key_t key;
/* the main thread's signal mask when it ended: the program's exit handlers expect it */
static uint64_t mask;

/*
 * Poll until only profiler threads are left, then exit().  The calling thread counts as a profiler
 * thread meanwhile.
 */
static void exit_after_last_thread(void)
{
	bool is_last = false, may_change = true;
	uint64_t poll_ns = FIRST_POLL_NS;
	const uint32_t *libc_threads = gp_dlsym(RTLD_DEFAULT, LIBC_THREADS);

	gp_profiler_thread_begin();
	while (!is_last && may_change) {
		gp_sys_sleep(poll_ns);
		poll_ns = 2 * poll_ns < LONGEST_POLL_NS ? 2 * poll_ns : LONGEST_POLL_NS;
		is_last = gp_profiler_threads_are_last(libc_threads, &may_change);
	}
	if (is_last) {
		gp_sys_let_signals(mask);
		gp_profiler_thread_becomes_program();
		exit(EXIT_SUCCESS);
	}
	gp_profiler_thread_end();
	gp_profiler_thread_becomes_program();
}

/*
 * Unlike the writer, this thread keeps the program's descriptors, which must stay open until the
 * last thread ends.  Its stack is large enough for the program's exit handlers.
 */
static void *main_thread_watcher(void *unused)
{
	gp_sys_set_thread_name("gpuprof-end");
	exit_after_last_thread();
	return unused;
}

static int start_watcher(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	gp_sys_block_signals_in(&attributes);
	error = pthread_create(&thread, &attributes, main_thread_watcher, NULL);
	pthread_attr_destroy(&attributes);
	if (error == 0)
		pthread_detach(thread);
	return error;
}

static void on_end_of_main(void *unused)
{
	(void)unused;
	if (gp_sys_is_confined())
		return;
	mask = gp_sys_hold_signals(GP_SYS_LIBC_SIGNALS | GP_SYS_STOP_SIGNALS);
	/*
	 * if no thread can be created, the main thread polls itself, because nothing else would end
	 * the process
	 */
	if (start_watcher() != 0)
		exit_after_last_thread();
	gp_sys_let_signals(mask);
}

/* Also the thread that forked: it is the child's main thread. */
static void watch_this_thread(void)
{
	pthread_setspecific(key, &key);
}

void gp_main_thread_watch(void)
{
	if (gp_sys_thread_id() != gp_sys_process_id() ||
	    pthread_key_create(&key, on_end_of_main) != 0)
		return;
	watch_this_thread();
	pthread_atfork(NULL, NULL, watch_this_thread);
}
