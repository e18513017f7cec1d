#include "inject/client_buffers.h"

#include <string.h>

#include "collector/atomic.h"
#include "inject/client_calls.h"
#include "inject/client_clock.h"

struct buffer {
	uint8_t *memory; /* NULL = none */
	size_t bytes, used_bytes;
	size_t most_records, records; /* most_records 0: as many as fit */
};

enum offer { EMPTY, TAKEN, FULL };

static struct {
	uint64_t request, complete; /* the client's functions, NULL = none */
	uint32_t expected;          /* the next call asks the client for a buffer */
	uint32_t offer;             /* enum offer: whether a call has requested a buffer */
	struct buffer offered;
	struct buffer current; /* owned by the fetching thread */
	uint64_t dropped;
} client;

void gp_client_buffers_register(CUpti_BuffersCallbackRequestFunc request,
				CUpti_BuffersCallbackCompleteFunc complete)
{
	uint64_t old_complete = gp_swap64(&client.complete, (uintptr_t)complete);
	uint64_t old_request = gp_swap64(&client.request, (uintptr_t)request);

	if ((old_complete != 0 && old_complete != (uintptr_t)complete) ||
	    (old_request != 0 && old_request != (uintptr_t)request))
		gp_client_calls_await();
}

void gp_client_buffers_close(void)
{
	gp_swap64(&client.request, 0);
	gp_client_calls_await();
}

bool gp_client_buffers_are_registered(void)
{
	return gp_load64_acquire(&client.request) != 0;
}

static void request(struct buffer *buffer)
{
	CUpti_BuffersCallbackRequestFunc function =
		(CUpti_BuffersCallbackRequestFunc)(uintptr_t)gp_client_calls_enter(&client.request);

	*buffer = (struct buffer){.memory = NULL};
	if (function != NULL)
		function(&buffer->memory, &buffer->bytes, &buffer->most_records);
	gp_client_calls_leave();
}

static void complete(struct buffer *buffer)
{
	CUpti_BuffersCallbackCompleteFunc function;
	struct buffer full = *buffer;

	buffer->memory = NULL;
	if (full.memory == NULL)
		return;
	function = (CUpti_BuffersCallbackCompleteFunc)(uintptr_t)gp_client_calls_enter(
		&client.complete);
	if (function != NULL)
		function(NULL, 0, full.memory, full.bytes, full.used_bytes);
	gp_client_calls_leave();
}

/* ---- inside a call ---- */

void gp_client_buffers_expect(void)
{
	if (!gp_client_buffers_are_registered())
		return;
	gp_swap32(&client.expected, 1);
}

void gp_client_buffers_next_call(void)
{
	if (gp_load32(&client.expected) != 0 && gp_replace32(&client.expected, 1, 0))
		gp_client_buffers_request();
}

void gp_client_buffers_request(void)
{
	if (!gp_replace32(&client.offer, EMPTY, TAKEN))
		return;
	request(&client.offered);
	/* pairs with the acquire in take_offered() */
	gp_store32_release(&client.offer, client.offered.memory != NULL ? FULL : EMPTY);
}

/* ---- the fetching thread ---- */

static bool take_offered(struct buffer *buffer)
{
	if (gp_load32_acquire(&client.offer) != FULL)
		return false;
	*buffer = client.offered;
	gp_store32_release(&client.offer, EMPTY);
	return true;
}

static bool has_space(const struct buffer *buffer, size_t bytes)
{
	return buffer->memory != NULL && bytes <= buffer->bytes - buffer->used_bytes &&
	       (buffer->most_records == 0 || buffer->records < buffer->most_records);
}

static bool find_space(size_t bytes)
{
	if (has_space(&client.current, bytes))
		return true;
	complete(&client.current);
	if (!take_offered(&client.current))
		request(&client.current);
	return has_space(&client.current, bytes);
}

void gp_client_buffers_add(const CUpti_Activity *record, size_t bytes)
{
	CUpti_Activity *copy;

	if (!gp_client_buffers_are_registered())
		return;
	if (!find_space(bytes)) {
		gp_add64(&client.dropped, 1);
		return;
	}
	copy = (CUpti_Activity *)(client.current.memory + client.current.used_bytes);
	memcpy(copy, record, bytes);
	if (!gp_client_clock_convert(copy, bytes)) {
		gp_add64(&client.dropped, 1);
		return;
	}
	client.current.used_bytes += bytes;
	client.current.records++;
}

void gp_client_buffers_hand_over(void)
{
	struct buffer unused;

	complete(&client.current);
	if (take_offered(&unused))
		complete(&unused);
}

size_t gp_client_buffers_take_dropped(void)
{
	return gp_swap64(&client.dropped, 0);
}
