#include "inject/client_records.h"

#include "collector/atomic.h"
#include "collector/sys.h"
#include "inject/client_buffers.h"
#include "inject/client_kinds.h"
#include "inject/client_clock.h"

#define MOST_WAIT_NS 10000000000u /* then the client goes on without its records */
#define POLL_NS                                                                                    \
	10000000u /* a waiting thread checks this often whether the fetching thread exists */

static struct {
	uint32_t serving; /* a fetching thread exists */
	void (*wake)(void);
	uint32_t asked; /* number of the client's requests */
	uint32_t answered;
	uint32_t periodically;
	/* without a fetching thread: some thread returns the buffers to the client */
	uint32_t handing;
} service;

static __thread bool is_fetching_thread;

void gp_client_records_begin(void (*wake)(void))
{
	service.wake = wake;
	/* pairs with the acquire in gp_client_records_is_served() */
	gp_store32_release(&service.serving, 1);
}

void gp_client_records_enter_thread(void)
{
	is_fetching_thread = true;
}

void gp_client_records_end(void)
{
	gp_store32_release(&service.serving, 0);
	gp_sys_wake(&service.answered);
}

/* Records are contiguous: each ends where the next begins, the last at the end of the buffer. */
void gp_client_records_copy(__typeof__(&cuptiActivityGetNextRecord) next, uint8_t *buffer,
			    size_t valid_bytes)
{
	CUpti_Activity *record = NULL, *following = NULL;
	CUptiResult result;
	size_t bytes;

	if (!gp_client_buffers_are_registered() || valid_bytes == 0)
		return;
	gp_client_clock_read();
	do {
		uint8_t *end = buffer + valid_bytes;

		result = next(buffer, valid_bytes, &following);
		if (result == CUPTI_SUCCESS)
			end = (uint8_t *)following;
		bytes = record != NULL ? (size_t)(end - (uint8_t *)record) : 0;
		if (record != NULL && gp_client_kinds_wants(record, bytes))
			gp_client_buffers_add(record, bytes);
		record = following;
	} while (result == CUPTI_SUCCESS);
}

/*
 * CUPTI holds a client buffer only while it has undelivered records, and a client may rely on that.
 * So a new buffer is requested immediately, or once further records are possible.
 */
static void hand_over(bool more)
{
	gp_client_buffers_hand_over();
	if (more && gp_client_buffers_are_registered())
		gp_client_buffers_request();
	else if (gp_client_kinds_wants_any())
		gp_client_buffers_expect();
}

bool gp_client_records_is_requested(uint32_t *ticket)
{
	*ticket = gp_load32_acquire(&service.asked);
	return *ticket != gp_load32(&service.answered);
}

void gp_client_records_answer(uint32_t ticket, bool more)
{
	hand_over(more);
	gp_store32_release(&service.answered, ticket);
	gp_sys_wake(&service.answered);
}

void gp_client_records_end_period(bool more)
{
	if (gp_load32(&service.periodically))
		hand_over(more);
}

/* ---- the client's threads ---- */

bool gp_client_records_is_served(void)
{
	return gp_load32_acquire(&service.serving) != 0 && !is_fetching_thread;
}

/*
 * Two threads may make requests concurrently.  The fetching thread sees the actions of both before
 * their requests.
 */
static uint32_t take_ticket(void)
{
	uint32_t asked = gp_load32(&service.asked);

	while (!gp_replace32(&service.asked, asked, asked + 1))
		asked = gp_load32(&service.asked);
	return asked + 1;
}

static void wait_for(uint32_t ticket)
{
	uint64_t give_up_ns = gp_sys_now_ns() + MOST_WAIT_NS;

	for (;;) {
		uint32_t answered = gp_load32_acquire(&service.answered);

		if ((int32_t)(answered - ticket) >= 0 || !gp_client_records_is_served() ||
		    gp_sys_now_ns() > give_up_ns)
			return;
		gp_sys_wait(&service.answered, answered, POLL_NS);
	}
}

void gp_client_records_request(void)
{
	if (gp_client_records_is_served()) {
		uint32_t ticket = take_ticket();

		service.wake();
		wait_for(ticket);
	}
	if (gp_load32_acquire(&service.serving) != 0 || !gp_replace32(&service.handing, 0, 1))
		return;
	gp_client_buffers_hand_over();
	gp_store32_release(&service.handing, 0);
}

void gp_client_records_set_periodic(bool periodically)
{
	gp_store32(&service.periodically, periodically);
}
