#include "report/stack_room.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

struct job {
	int (*command)(int argc, char **argv);
	int argc;
	char **argv;
	int result;
};

static void *work(void *context)
{
	struct job *job = context;

	job->result = job->command(job->argc, job->argv);
	return NULL;
}

static bool has_room(void)
{
	struct rlimit stack;

	return getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= GP_STACK_ROOM_BYTES;
}

static void give_threads_room(void)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, GP_STACK_ROOM_BYTES) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

int gp_stack_room_run(int (*command)(int argc, char **argv), int argc, char **argv)
{
	struct job job = {command, argc, argv, 0};
	pthread_t thread;
	sigset_t all;

	give_threads_room();
	if (has_room() || pthread_create(&thread, NULL, work, &job) != 0)
		return command(argc, argv);
	sigfillset(&all); /* after it has started: it has the signals that the program had */
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_join(thread, NULL);
	return job.result;
}
