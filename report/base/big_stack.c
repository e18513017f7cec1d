#include "report/base/big_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

struct job {
	int (*command)(int argc, char **argv);
	int argc;
	char **argv;
	sigset_t signals; /* the blocked signals of the caller */
	int result;
};

static void *work(void *context)
{
	struct job *job = context;

	pthread_sigmask(SIG_SETMASK, &job->signals, NULL);
	job->result = job->command(job->argc, job->argv);
	return NULL;
}

static bool is_big_enough(void)
{
	struct rlimit stack;

	return getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= GP_STACK_BYTES;
}

static void enlarge_thread_stacks(void)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, GP_STACK_BYTES) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

int gp_big_stack_run(int (*command)(int argc, char **argv), int argc, char **argv)
{
	struct job job = {.command = command, .argc = argc, .argv = argv};
	pthread_t thread;
	sigset_t all;

	enlarge_thread_stacks();
	if (is_big_enough())
		return command(argc, argv);
	sigfillset(&all); /* before the other thread exists, so that it gets the signals */
	pthread_sigmask(SIG_SETMASK, &all, &job.signals);
	if (pthread_create(&thread, NULL, work, &job) == 0)
		pthread_join(thread, NULL);
	else
		work(&job);
	return job.result;
}
