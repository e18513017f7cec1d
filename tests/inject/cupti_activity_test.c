/* cupti_activity: buffers between CUPTI and the decoder, while CUPTI flushes. */

#include "tests/unit.h"

#include <pthread.h>
#include <stdbool.h>

#include "collector/atomic.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_activity.h"

#define LIMIT 16u

static uint8_t *buffers[LIMIT];
static uint32_t wakes; /* number of times that a waiting thread woke the decoder */

/* CUPTI's actions during a flush. */
static void (*in_flush)(void);

static void wake_decoder(void)
{
	gp_add32(&wakes, 1);
}

static void wake_fetching_thread(void)
{
}

static CUptiResult flush_all(uint32_t flag)
{
	(void)flag;
	if (in_flush != NULL)
		in_flush();
	return CUPTI_SUCCESS;
}

static CUptiResult no_record(uint8_t *buffer, size_t valid_bytes, CUpti_Activity **record)
{
	(void)buffer, (void)valid_bytes, (void)record;
	return CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static CUptiResult none_dropped(CUcontext context, uint32_t stream, size_t *dropped)
{
	(void)context, (void)stream;
	*dropped = 0;
	return CUPTI_SUCCESS;
}

static const struct gp_cupti cupti = {
	.version = 130001,
	.cuptiActivityFlushAll = flush_all,
	.cuptiActivityGetNextRecord = no_record,
	.cuptiActivityGetNumDroppedRecords = none_dropped,
};

static uint32_t requests; /* atomic */

static void count_request(void)
{
	gp_add32(&requests, 1);
}

static int init(void **state)
{
	gp_cupti_activity_init(&cupti, wake_fetching_thread, count_request);
	gp_cupti_activity_enter_thread();
	return gp_buffers_init((uint64_t)LIMIT * GP_CUPTI_BUFFER_BYTES, true, wake_decoder);
}

/* ---- like CUPTI's worker, which returns filled buffers and requests others ---- */

static void *fill_all(void *unused)
{
	size_t bytes, most;

	(void)unused;
	for (uint32_t i = 0; i < LIMIT; i++) {
		gp_cupti_activity_request(&buffers[i], &bytes, &most);
		assert_int_equal(bytes, GP_CUPTI_BUFFER_BYTES);
	}
	for (uint32_t i = 0; i < LIMIT; i++)
		gp_cupti_activity_complete(NULL, 0, buffers[i], bytes, 64);
	return NULL;
}

static size_t bytes_asked;

static void ask(void)
{
	uint8_t *buffer;
	size_t most;

	gp_cupti_activity_request(&buffer, &bytes_asked, &most);
	gp_cupti_activity_complete(NULL, 0, buffer, bytes_asked, 0);
}

static void *ask_once(void *unused)
{
	ask();
	return unused;
}

static void *fill_all_and_ask(void *unused)
{
	fill_all(unused);
	ask();
	return NULL;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
	pthread_join(thread, NULL);
}

static void fill_all_and_ask_on_worker(void)
{
	run(fill_all_and_ask);
}

static void fill_and_decode(void)
{
	run(fill_all);
	gp_cupti_activity_during_flush();
	run(ask_once);
}

static void *flush(void *unused)
{
	gp_cupti_activity_flush(0);
	return unused;
}

/* ---- */

/* A thread that the exiting program waits for must not wait for a buffer. */
static void an_awaited_thread_does_not_wait_for_a_buffer(void **state)
{
	in_flush = fill_all_and_ask_on_worker;
	wakes = 0;
	run(flush);
	assert_int_equal(wakes, 0);
	assert_true(bytes_asked < GP_CUPTI_BUFFER_BYTES);
	/* records that arrived during the flush are decoded after it */
	gp_cupti_activity_end_flush(false);
	in_flush = ask;
	run(flush);
	assert_int_equal(bytes_asked, GP_CUPTI_BUFFER_BYTES);
	gp_cupti_activity_end_flush(false);
}

/* The decoder continues during the flush. */
static void buffers_during_a_flush_are_decoded(void **state)
{
	in_flush = fill_and_decode;
	run(flush);
	assert_int_equal(bytes_asked, GP_CUPTI_BUFFER_BYTES);
	gp_cupti_activity_end_flush(false);
}

static void the_fetching_thread_does_not_wait_for_itself(void **state)
{
	requests = 0;
	run(fill_all);
	assert_int_equal(requests, LIMIT);
	wakes = 0;
	ask();
	assert_int_equal(wakes, 0);
	gp_cupti_activity_decode();
	ask();
	assert_int_equal(bytes_asked, GP_CUPTI_BUFFER_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_awaited_thread_does_not_wait_for_a_buffer),
		cmocka_unit_test(buffers_during_a_flush_are_decoded),
		cmocka_unit_test(the_fetching_thread_does_not_wait_for_itself),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
