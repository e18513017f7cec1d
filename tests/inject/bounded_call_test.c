/* bounded_call: a long call does not block its sender, and no call begins after the close. */

#include "tests/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/eventcount.h"
#include "collector/sys.h"
#include "inject/bounded_call.h"

#define LONGEST_NS 10000000000u /* no test waits this long */

static struct gp_eventcount wakeup;
static uint32_t done;    /* the last finished call */
static uint32_t running; /* a call is in progress */
static uint32_t may_end; /* a long call may end */
static bool was_awaited; /* at its end: gp_bounded_call_is_wanted() */

#define LASTS 100u

static void wait_until(uint32_t *word, uint32_t value)
{
	uint32_t now;

	while ((now = gp_load32_acquire(word)) != value)
		gp_sys_wait(word, now, LONGEST_NS);
}

static void let(uint32_t *word)
{
	gp_store32_release(word, 1);
	gp_sys_wake(word);
}

static void run(uint32_t errand)
{
	if (errand == LASTS) {
		let(&running);
		wait_until(&may_end, 1);
		was_awaited = gp_bounded_call_is_wanted();
	}
	gp_store32_release(&done, errand);
}

static void ring(void)
{
	gp_eventcount_notify(&wakeup);
}

static void await_return(void)
{
	while (!gp_bounded_call_is_done())
		gp_eventcount_wait(&wakeup, LONGEST_NS);
}

/* Each test in its own process, because there is one helper thread, and it ends. */
static void in_child(void (*body)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (gp_bounded_call_begin(run, ring) != 0)
			_exit(2);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void expect(bool is_so)
{
	if (!is_so)
		_exit(1);
}

static void send_two(void)
{
	expect(gp_bounded_call_send(7));
	await_return();
	expect(gp_load32_acquire(&done) == 7);
	expect(gp_bounded_call_send(8));
	await_return();
	expect(gp_load32_acquire(&done) == 8);
}

static void each_call_is_done_once_it_has_returned(void **state)
{
	in_child(send_two);
}

static void send_beside_one(void)
{
	expect(gp_bounded_call_send(LASTS));
	wait_until(&running, 1);
	expect(!gp_bounded_call_is_done() && !gp_bounded_call_send(7));
	let(&may_end);
	await_return();
	expect(gp_load32_acquire(&done) == LASTS && was_awaited && gp_bounded_call_send(7));
	await_return();
	expect(gp_load32_acquire(&done) == 7);
}

static void the_sender_continues_during_a_call(void **state)
{
	in_child(send_beside_one);
}

static void close_beside_one(void)
{
	expect(gp_bounded_call_send(LASTS));
	wait_until(&running, 1);
	gp_bounded_call_close();
	expect(!gp_bounded_call_is_done() && !gp_bounded_call_send(7));
	let(&may_end);
	while (gp_load32_acquire(&done) != LASTS)
		gp_eventcount_wait(&wakeup, LONGEST_NS);
	expect(!was_awaited && !gp_bounded_call_is_done() && !gp_bounded_call_send(7));
}

static void no_call_begins_after_the_close(void **state)
{
	in_child(close_beside_one);
}

static int no_thread(pthread_t *thread, void *(*body)(void *))
{
	(void)thread, (void)body;
	return -EAGAIN;
}

static void without_a_thread_requests_are_not_served(void **state)
{
	int (*real)(pthread_t * thread, void *(*body)(void *)) = gp_sys.thread;

	gp_sys.thread = no_thread;
	assert_int_not_equal(gp_bounded_call_begin(run, ring), 0);
	gp_sys.thread = real;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_done_once_it_has_returned),
		cmocka_unit_test(the_sender_continues_during_a_call),
		cmocka_unit_test(no_call_begins_after_the_close),
		cmocka_unit_test(without_a_thread_requests_are_not_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
