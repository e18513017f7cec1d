/* thread_stack: what a thread has left of its stack, and stacks that are not the thread's own. */
#include "inject/thread_stack.h"

#include <pthread.h>
#include <ucontext.h>

#include "tests/lib/sanitizer.h"
#include "tests/unit.h"

#define SMALL (256u << 10)
#define LARGE (2u << 20)

static bool has_small, has_large;

static void ask(void)
{
	has_small = gp_thread_stack_has(SMALL / 2);
	has_large = gp_thread_stack_has(LARGE / 2);
}

static void *ask_in_thread(void *unused)
{
	ask();
	return NULL;
}

static void ask_in_thread_of(size_t bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstacksize(&attributes, bytes), 0);
	assert_int_equal(pthread_create(&thread, &attributes, ask_in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
}

static void small_and_large_stacks(void **state)
{
	ask_in_thread_of(SMALL);
	assert_true(has_small || UNDER_TSAN); /* whose own variables take much of it */
	assert_false(has_large);
	ask_in_thread_of(LARGE);
	assert_true(has_large);
}

static void main_thread(void **state)
{
	ask();
	assert_true(has_large);
}

/* However large the thread's own stack is. */
static void a_coroutine(void **state)
{
	static char stack[SMALL];
	static ucontext_t coroutine, caller;

	assert_int_equal(getcontext(&coroutine), 0);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	coroutine.uc_link = &caller;
	makecontext(&coroutine, ask, 0);
	assert_int_equal(swapcontext(&caller, &coroutine), 0);
	assert_false(has_small);
	assert_false(has_large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_and_large_stacks),
		cmocka_unit_test(main_thread),
		cmocka_unit_test(a_coroutine),
	};

	gp_thread_stack_find();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
