#include "tests/sim/call.h"
#include "tests/sim/device.h"

#include <stdlib.h>
#include <string.h>

#define EVENT_MAGIC 0x45564e54u

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static CUevent free_events; /* never freed: a stale handle stays recognizable */
static _Atomic uint32_t next_id = 1;

CUevent sim_event_create(CUcontext ctx, unsigned int flags)
{
	CUevent e;

	pthread_mutex_lock(&pool_lock);
	e = free_events;
	if (e)
		free_events = e->next_free;
	pthread_mutex_unlock(&pool_lock);
	if (!e)
		e = malloc(sizeof(*e));
	memset(e, 0, sizeof(*e));
	e->magic = EVENT_MAGIC;
	e->ctx = ctx;
	e->flags = flags;
	return e;
}

bool sim_event_valid(CUevent event)
{
	return event && event->magic == EVENT_MAGIC;
}

void sim_event_destroy(CUevent event)
{
	free(event->capture_nodes);
	event->capture_nodes = NULL;
	event->magic = 0;
	pthread_mutex_lock(&pool_lock);
	event->next_free = free_events;
	free_events = event;
	pthread_mutex_unlock(&pool_lock);
}

void sim_event_number(CUevent event)
{
	if (!event->id)
		event->id = next_id++;
}

void sim_event_record(CUevent event, CUstream stream)
{
	sim_event_number(event);
	event->when = sim_stream_ready_ns(stream);
	event->host_stream = stream;
	event->host_ticket = sim_host_ticket(stream);
	event->recorded = true;
	event->capture_graph = NULL;
	sim_stream_extend(stream, event->when);
	if (sim_tools.event_record)
		sim_tools.event_record(event, stream);
}

void sim_event_wait(CUstream stream, CUevent event)
{
	if (event->recorded)
		sim_stream_extend(stream, event->when);
}

bool sim_event_done(CUevent event)
{
	if (!event->recorded)
		return true;
	return event->when <= sim_now_ns() && sim_host_idle(event->host_stream, event->host_ticket);
}

void sim_event_sync(CUevent event)
{
	if (!event->recorded)
		return;
	sim_wait_until_ns(event->when);
	sim_host_wait(event->host_stream, event->host_ticket);
}
