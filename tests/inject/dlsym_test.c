/*
 * dlsym: the functions that it calls, and the behavior that a caller sees.  This program uses our
 * dlsym() instead of the C library's.
 */

#include "tests/unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "inject/dlsym.h"

static void *library;               /* a handle of the C library */
static char answered;               /* the answer function returns its address */
static __thread uint32_t questions; /* number of answer function calls on this thread */
static __thread const char *asked_name;
static __thread const void *asked_found, *asked_caller;

static void *answer(void *handle, const char *name, void *found, const void *caller)
{
	assert_ptr_equal(handle, library);
	questions++;
	(void)gp_dlsym(handle, "not there");
	asked_name = name;
	asked_found = found;
	asked_caller = caller;
	return &answered;
}

static void *not_found(void *handle, const char *name)
{
	void *found = gp_dlsym(handle, name);

	assert_null(found);
	assert_non_null(dlerror());
	return found;
}

static void without_an_answer_function_all_lookups_are_libcs(void **state)
{
	assert_null(dlsym(library, "cuptiSubscribe"));
	assert_non_null(strstr(dlerror(), "cuptiSubscribe"));
	assert_ptr_equal(dlsym(library, "strlen"), gp_dlsym(library, "strlen"));
	gp_dlsym_answer_with(answer);
}

static void only_cupti_names_are_resolved(void **state)
{
	static const char *const names[] = {"strlen", "cu", "cupt", "cuptx", "", "cuInit"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_ptr_equal(gp_dlsym_choose(library, names[i]), gp_dlsym_choose(library, "x"));
	assert_ptr_equal(gp_dlsym_choose(library, NULL), gp_dlsym_choose(library, "x"));
	assert_ptr_not_equal(gp_dlsym_choose(library, "cupti"), gp_dlsym_choose(library, "x"));
}

/*
 * RTLD_DEFAULT and RTLD_NEXT depend on the caller, so the answer function is not called for them.
 */
static void only_with_a_handle(void **state)
{
	assert_ptr_equal(gp_dlsym_choose(RTLD_NEXT, "cuptiSubscribe"),
			 gp_dlsym_choose(library, "x"));
	assert_ptr_equal(gp_dlsym_choose(RTLD_DEFAULT, "cuptiSubscribe"),
			 gp_dlsym_choose(library, "x"));
}

static void the_answer_function_is_not_called_for_unknown_names(void **state)
{
	questions = 0;
	assert_null(dlsym(library, "cuptiSubscribe"));
	assert_non_null(strstr(dlerror(), "cuptiSubscribe"));
	assert_null(not_found(library, "cuptiSubscribe"));
	assert_int_equal(questions, 0);
}

/* A function that this program exports. */
__attribute__((visibility("default"))) int cuptiOfTheTest(void);
int cuptiOfTheTest(void)
{
	return 5;
}

static void the_answer_function_gets_result_and_caller(void **state)
{
	Dl_info caller = {0}, here = {0};

	library = dlopen(NULL, RTLD_NOW);
	questions = 0;
	assert_ptr_equal(dlsym(library, "cuptiOfTheTest"), &answered);
	assert_null(dlerror()); /* no error from the lookups of the answer function */
	assert_int_equal(questions, 1);
	assert_string_equal(asked_name, "cuptiOfTheTest");
	assert_true((uintptr_t)asked_found == (uintptr_t)cuptiOfTheTest);
	assert_true(dladdr(asked_caller, &caller) != 0 && dladdr(&answered, &here) != 0);
	assert_ptr_equal(caller.dli_fbase, here.dli_fbase);
	assert_true((uintptr_t)gp_dlsym(library, "cuptiOfTheTest") == (uintptr_t)cuptiOfTheTest);
	assert_int_equal(questions, 1);
}

/*
 * RTLD_NEXT depends on the caller.  After this program comes the C library, which is also the first
 * definition.
 */
static void the_caller_is_seen(void **state)
{
	Dl_info found = {0}, next = {0};

	assert_true((uintptr_t)dlsym(RTLD_DEFAULT, "cuptiOfTheTest") == (uintptr_t)cuptiOfTheTest);
	assert_null(dlsym(RTLD_NEXT, "cuptiOfTheTest"));
	assert_non_null(dlerror());
	assert_true(dladdr((void *)(uintptr_t)dlsym, &found) != 0);
	assert_true(dladdr(dlsym(RTLD_NEXT, "dlsym"), &next) != 0);
	assert_ptr_not_equal(found.dli_fbase, next.dli_fbase);
}

static void *look_up_often(void *result)
{
	for (int i = 0; i < 10000; i++)
		if (dlsym(library, "cuptiOfTheTest") != &answered ||
		    dlsym(library, "strlen") == NULL)
			*(int *)result = 1;
	return NULL;
}

static void threads_look_up_at_once(void **state)
{
	pthread_t threads[4];
	int failed[4] = {0};

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_up_often, &failed[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(failed[i], 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_answer_function_all_lookups_are_libcs),
		cmocka_unit_test(only_cupti_names_are_resolved),
		cmocka_unit_test(only_with_a_handle),
		cmocka_unit_test(the_answer_function_is_not_called_for_unknown_names),
		cmocka_unit_test(the_answer_function_gets_result_and_caller),
		cmocka_unit_test(the_caller_is_seen),
		cmocka_unit_test(threads_look_up_at_once),
	};

	library = dlopen("libc.so.6", RTLD_NOW);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
