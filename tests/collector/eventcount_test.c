/*
 * eventcount: a notification is never missed, and wakes a sleeping thread.  After a missed
 * notification the test does not end.
 */
#include "tests/collector/harness.h"

#include <pthread.h>

#include "collector/atomic.h"
#include "collector/eventcount.h"

#define ROUNDS 20000

static struct gp_eventcount there, back;

static void an_early_notification_is_not_missed(void **unused)
{
	(void)unused;
	gp_eventcount_notify(&there);
	gp_eventcount_notify(&there);
	gp_eventcount_wait(&there, LONG_NS * 100);
	assert_int_equal(gp_load32(&there.notified), 0);
}

static uint32_t asked, answered;

/* A wait may end early, by the wake of a notification that an earlier wait took before it slept. */
static void wait_until(struct gp_eventcount *wakeup, const uint32_t *number, uint32_t reached)
{
	while (gp_load32_acquire(number) < reached)
		gp_eventcount_wait(wakeup, LONG_NS * 100);
}

static void *answer(void *unused)
{
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		wait_until(&there, &asked, i);
		gp_store32_release(&answered, i);
		gp_eventcount_notify(&back);
	}
	return unused;
}

static void each_notification_wakes(void **unused)
{
	pthread_t thread;

	(void)unused;
	assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		gp_store32_release(&asked, i);
		gp_eventcount_notify(&there);
		wait_until(&back, &answered, i);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_early_notification_is_not_missed),
		cmocka_unit_test(each_notification_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
