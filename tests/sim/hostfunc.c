#include "tests/sim/call.h"
#include "tests/sim/device.h"

#include <stdlib.h>

struct host_function {
	uint64_t due;
	struct sim_host_function what;
	struct host_function *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct host_function *queue; /* by due time */
static uint64_t all_submitted, all_done;
static pthread_t runner;
static bool running;

static struct host_function *take_first(void)
{
	struct host_function *first;

	pthread_mutex_lock(&lock);
	while (!queue)
		pthread_cond_wait(&changed, &lock);
	first = queue;
	queue = first->next;
	pthread_mutex_unlock(&lock);
	return first;
}

static void call(const struct sim_host_function *function)
{
	uint64_t start = sim_now_ns();

	function->fn(function->data);
	if (sim_tools.host_function)
		sim_tools.host_function(function, start, sim_now_ns());
}

static void *run(void *unused)
{
	(void)unused;
	for (;;) {
		struct host_function *f = take_first();

		sim_wait_until_ns(f->due);
		call(&f->what);
		pthread_mutex_lock(&lock);
		f->what.stream->host_done++;
		all_done++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		free(f);
	}
	return NULL;
}

static void insert(struct host_function *f)
{
	struct host_function **at = &queue;

	while (*at && (*at)->due <= f->due)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
}

void sim_host_submit(const struct sim_host_function *function, uint64_t due)
{
	struct host_function *f = malloc(sizeof(*f));

	*f = (struct host_function){.due = due, .what = *function};
	pthread_mutex_lock(&lock);
	insert(f);
	function->stream->host_submitted++;
	all_submitted++;
	if (!running)
		running = pthread_create(&runner, NULL, run, NULL) == 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

uint64_t sim_host_ticket(CUstream stream)
{
	uint64_t ticket;

	pthread_mutex_lock(&lock);
	ticket = stream->host_submitted;
	pthread_mutex_unlock(&lock);
	return ticket;
}

bool sim_host_idle(CUstream stream, uint64_t ticket)
{
	bool idle;

	pthread_mutex_lock(&lock);
	idle = stream->host_done >= ticket;
	pthread_mutex_unlock(&lock);
	return idle;
}

/* stream NULL: wait for all functions enqueued so far, on all streams. */
void sim_host_wait(CUstream stream, uint64_t ticket)
{
	pthread_mutex_lock(&lock);
	if (!stream)
		ticket = all_submitted;
	if (!running || !pthread_equal(pthread_self(), runner))
		while ((stream ? stream->host_done : all_done) < ticket)
			pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
