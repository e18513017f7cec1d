#include "report/analysis/host/host_place.h"
#include "tests/unit.h"
#include "tests/report/stack_builder.h"

#define LIBRARY  "/v/lib/python3.12/"
#define PACKAGES LIBRARY "site-packages/"

struct scene {
	struct build b;
	struct gp_host_places *places;
};

static int set_up(void **state)
{
	static struct scene scene;

	scene.b = build_begin(1);
	scene.places = gp_host_places_new();
	*state = &scene;
	return scene.places ? 0 : -1;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	gp_host_places_free(scene->places);
	gp_model_free(scene->b.model);
	return 0;
}

static void assert_place(struct scene *scene, uint32_t stack, const char *what, const char *own,
			 const char *function)
{
	struct gp_host_place place = gp_host_places_at(
		scene->places, gp_host_places_find(scene->places, scene->b.model, stack));

	assert_string_equal(place.what, what);
	assert_string_equal(place.own, own);
	assert_string_equal(place.function, function);
	assert_true(place.function_number < gp_host_places_functions(scene->places));
}

static uint32_t add_main(struct build *b, uint32_t line)
{
	return build_python(b, BUILD_OUTERMOST, "/home/me/train.py", "<module>", line);
}

static uint32_t add_import(struct build *b, uint32_t caller)
{
	caller = build_python(b, caller, "<frozen importlib._bootstrap>", "_find_and_load", 160);
	return build_python(b, caller, "<frozen importlib._bootstrap>", "_load_unlocked", 135);
}

static void the_users_own_code_needs_no_more_words(void **state)
{
	struct scene *scene = *state;
	uint32_t frame = add_main(&scene->b, 90);

	frame = build_python(&scene->b, frame, "/home/me/data.py", "load", 7);
	build_stacks_end(&scene->b);
	assert_place(scene, frame, "", "load (data.py:7)", "load (data.py)");
}

static void a_librarys_innermost_function_is_named(void **state)
{
	struct scene *scene = *state;
	uint32_t frame = add_main(&scene->b, 90);

	frame = build_python(&scene->b, frame, LIBRARY "json/__init__.py", "loads", 146);
	frame = build_python(&scene->b, frame, LIBRARY "json/decoder.py", "raw_decode", 153);
	build_stacks_end(&scene->b);
	assert_place(scene, frame, "raw_decode (json/decoder.py)", "<module> (train.py:90)",
		     "<module> (train.py)");
}

/* What the user's line asked for, not what that imports in turn. */
static void an_import_is_of_the_module_that_was_asked_for(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t line = add_main(b, 4), frame, looking;

	looking = add_import(b, line);
	frame = build_python(b, looking, PACKAGES "torch/_dynamo/__init__.py", "<module>", 12);
	frame = add_import(b, frame);
	frame = build_python(b, frame, PACKAGES "sympy/core.py", "<module>", 3);
	build_stacks_end(b);
	assert_place(scene, frame, "importing torch._dynamo", "<module> (train.py:4)",
		     "importing torch._dynamo");
	assert_place(scene, looking, "importing (finding or loading modules)",
		     "<module> (train.py:4)", "importing (finding or loading modules)");
}

/*
 * A thread that waits does nothing, whatever asked it to; a function of the user's of that name may
 * do anything.
 */
static void waiting_is_told(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t frame = build_python(b, add_main(b, 9), "/home/me/train.py", "consume", 12);
	uint32_t own = build_python(b, frame, "/home/me/queue.py", "get", 3), thread;

	frame = build_python(b, frame, LIBRARY "queue.py", "Queue.get", 171);
	frame = build_python(b, frame, LIBRARY "threading.py", "Condition.wait", 200);
	thread = build_python(b, BUILD_OUTERMOST, LIBRARY "concurrent/futures/thread.py", "_worker",
			      81);
	build_stacks_end(b);
	assert_place(scene, frame, "waiting in Condition.wait (threading.py)",
		     "consume (train.py:12)", "waiting in Condition.wait (threading.py)");
	assert_place(scene, thread, "waiting in _worker (concurrent/futures/thread.py)", "",
		     "waiting in _worker (concurrent/futures/thread.py)");
	assert_place(scene, own, "", "get (queue.py:3)", "get (queue.py)");
}

/* That a compiler is imported is no compilation. */
static void a_compiler_is_imported(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t frame = add_import(b, add_main(b, 22));

	frame = build_python(b, frame, PACKAGES "torch/_dynamo/__init__.py", "<module>", 12);
	frame = add_import(b, frame);
	frame = build_python(b, frame, PACKAGES "torch/_dynamo/convert_frame.py", "<module>", 3);
	build_stacks_end(b);
	assert_place(scene, frame, "importing torch._dynamo", "<module> (train.py:22)",
		     "importing torch._dynamo");
}

/* A compiler that imports is at its work. */
static void a_compiler_is_named(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t frame = add_main(b, 33);

	frame = build_python(b, frame, PACKAGES "torch/_dynamo/convert_frame.py", "__call__", 1);
	frame = add_import(b, frame);
	frame = build_python(b, frame, PACKAGES "torch/_inductor/config.py", "<module>", 3);
	build_stacks_end(b);
	assert_place(scene, frame, "compiling (torch.compile)", "<module> (train.py:33)",
		     "compiling (torch.compile)");
}

static void a_thread_of_a_library_has_no_line_of_the_users(void **state)
{
	struct scene *scene = *state;
	uint32_t frame = build_python(&scene->b, BUILD_OUTERMOST, LIBRARY "threading.py",
				      "Thread._bootstrap", 132);

	build_stacks_end(&scene->b);
	assert_place(scene, frame, "Thread._bootstrap (threading.py)", "",
		     "Thread._bootstrap (threading.py)");
}

static void equal_places_have_one_number(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t line = add_main(b, 90), one, other;

	one = build_python(b, line, LIBRARY "json/decoder.py", "raw_decode", 153);
	other = build_python(b, line, LIBRARY "json/decoder.py", "raw_decode", 155);
	build_stacks_end(b);
	assert_int_equal(gp_host_places_find(scene->places, b->model, one),
			 gp_host_places_find(scene->places, b->model, other));
	assert_int_not_equal(gp_host_places_find(scene->places, b->model, one),
			     gp_host_places_find(scene->places, b->model, line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_users_own_code_needs_no_more_words, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_librarys_innermost_function_is_named, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_import_is_of_the_module_that_was_asked_for,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(waiting_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_compiler_is_imported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_compiler_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thread_of_a_library_has_no_line_of_the_users,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_places_have_one_number, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
