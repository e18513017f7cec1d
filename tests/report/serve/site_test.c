/*
 * site: each path has what it should, wrong requests get an answer that says why, and nothing else
 * is reached.
 */
#include <string.h>
#include "tests/unit.h"

#include <jansson.h>
#include <unistd.h>

#include "report/serve/site.h"
#include "tests/report/model_builder.h"

struct scene {
	struct gp_model *models[1];
	struct gp_site site;
};

static void set_up(struct scene *scene)
{
	struct build b = build_begin(42);
	uint32_t name = build_name(&b, "_Z4stepPf");
	uint32_t shape = build_shape(&b, 10, 64);

	build_device(&b, 0, "Device");
	for (uint32_t i = 0; i < 10; i++) {
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, 1000 * i, 100, i + 1);
		op = build_op(&b, GP_OP_KERNEL, 7, 1000 * i + 200, 1000 * i + 500, i + 1);
		op->name = name;
		op->shape = shape;
	}
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 50000, 0x1000, 4096);
	*scene = (struct scene){.models = {build_end(&b)}};
	scene->site.models = scene->models;
	scene->site.model_count = 1;
	assert_int_equal(gp_site_open(&scene->site), 0);
	scene->site.door.port = 8123;
}

static void tear_down(struct scene *scene)
{
	gp_site_close(&scene->site);
	gp_model_free(scene->models[0]);
}

/* With the arguments name, value, ..., NULL. */
static struct gp_http_answer get(struct scene *scene, const char *path, ...)
{
	struct gp_request request = {.method = "GET", .path = path, .host = "127.0.0.1:8123"};
	struct gp_http_answer answer;
	const char *name;
	va_list list;

	gp_request_add(&request, "token", scene->site.door.token);
	va_start(list, path);
	while ((name = va_arg(list, const char *)))
		gp_request_add(&request, name, va_arg(list, const char *));
	va_end(list);
	gp_site_answer(&scene->site, &request, &answer);
	return answer;
}

static char *content(const struct gp_http_answer *answer)
{
	char *text = calloc(1, answer->bytes + 1);

	assert_non_null(text);
	assert_true(answer->fd >= 0);
	assert_int_equal(pread(answer->fd, text, answer->bytes, 0), answer->bytes);
	close(answer->fd);
	return text;
}

static json_t *json_of(const struct gp_http_answer *answer)
{
	char *text = content(answer);
	json_t *json = json_loads(text, 0, NULL);

	assert_int_equal(answer->status, 200);
	assert_string_equal(answer->type, "application/json");
	assert_non_null(json);
	free(text);
	return json;
}

static void assert_says(const struct gp_http_answer *answer, unsigned status, const char *text)
{
	assert_int_equal(answer->status, status);
	assert_int_equal(answer->fd, -1);
	assert_int_equal(answer->bytes, strlen(answer->text));
	assert_non_null(strstr(answer->text, text));
	assert_string_equal(answer->type, "text/plain; charset=utf-8");
}

static void test_every_path_has_something(void **state)
{
	static const char *const paths[] = {"/api/summary", "/api/kernels", "/api/advice",
					    "/api/flame",   "/api/memory",  "/api/timeline"};
	struct gp_http_answer answer;
	struct scene scene;
	char *page;

	set_up(&scene);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		answer = get(&scene, paths[i], NULL);
		json_decref(json_of(&answer));
	}
	answer = get(&scene, "/", NULL);
	assert_string_equal(answer.type, "text/html; charset=utf-8");
	page = content(&answer);
	assert_non_null(strstr(page, "connect-src 'self'\""));
	free(page);
	tear_down(&scene);
}

static void test_the_trace_is_the_same_each_time_and_a_part_is_less(void **state)
{
	struct gp_http_answer first, second, part;
	char *one, *two;
	struct scene scene;

	set_up(&scene);
	first = get(&scene, "/trace", NULL);
	part = get(&scene, "/trace", "from", "1000", "to", "2000", NULL);
	second = get(&scene, "/trace", NULL);
	assert_int_equal(first.bytes, second.bytes);
	assert_true(part.bytes < first.bytes);
	assert_int_not_equal(first.fd, second.fd);
	one = content(&first);
	two = content(&second);
	assert_memory_equal(one, two, first.bytes);
	close(part.fd);
	free(one);
	free(two);
	tear_down(&scene);
}

static void test_no_other_path_is_reached(void **state)
{
	static const char *const paths[] = {
		"",   "/etc/passwd",  "/../../etc/passwd",      "/api", "/api/", "/api/summary/",
		"//", "/API/summary", "http://127.0.0.1:8123/", "*"};
	struct gp_http_answer answer;
	struct scene scene;

	set_up(&scene);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		answer = get(&scene, paths[i], NULL);
		assert_says(&answer, 404, "no such path");
	}
	tear_down(&scene);
}

static void test_what_is_wrong_with_a_request_is_said(void **state)
{
	struct gp_http_answer answer;
	struct scene scene;
	char long_name[1000];

	set_up(&scene);
	answer = get(&scene, "/api/kernels", "tops", "3", NULL);
	assert_says(&answer, 400, "/api/kernels has no parameter tops");
	answer = get(&scene, "/api/kernels", "top", "many", NULL);
	assert_says(&answer, 400, "top needs a whole number from 0 to 1000000000, not many");
	answer = get(&scene, "/api/kernels", "sort", "Nothing", NULL);
	assert_says(&answer, 400, "has no column Nothing");
	answer = get(&scene, "/api/kernels", "names", "none", NULL);
	assert_says(&answer, 400, "names needs short or full, not none");
	answer = get(&scene, "/api/summary", "by", "nothing", NULL);
	assert_says(&answer, 400, "there is no such table in nothing;");
	answer = get(&scene, "/api/flame", "value", "nothing", NULL);
	assert_says(&answer, 400, "there is no value nothing; use one of gpu-time,");
	answer = get(&scene, "/api/timeline", "from", "2", "to", "2", NULL);
	assert_says(&answer, 400, "from must be before to, not 2 and 2 ns");
	answer = get(&scene, "/api/timeline", "from", "soon", NULL);
	assert_says(&answer, 400, "from needs a time such as 1.5s, 20ms, ");
	assert_says(&answer, 400, ", not soon");
	answer = get(&scene, "/api/timeline", "limit", "0", NULL);
	assert_says(&answer, 400, "limit needs a whole number from 1 to 100000, not 0");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	answer = get(&scene, "/api/memory", long_name, "1", NULL);
	assert_says(&answer, 400, "has no parameter xxx");
	tear_down(&scene);
}

static void test_who_has_no_token_is_told_nothing(void **state)
{
	struct gp_request request = {.method = "GET", .path = "/", .host = "127.0.0.1:8123"};
	struct gp_http_answer answer;
	struct scene scene;

	set_up(&scene);
	gp_site_answer(&scene.site, &request, &answer);
	assert_says(&answer, 403, "the address that gpuprof serve printed");
	assert_null(strstr(answer.text, scene.site.door.token));
	gp_request_add(&request, "token", scene.site.door.token);
	request.method = "POST";
	gp_site_answer(&scene.site, &request, &answer);
	assert_says(&answer, 405, "only GET and HEAD");
	assert_string_equal(answer.header, "Allow");
	assert_string_equal(answer.value, "GET, HEAD");
	tear_down(&scene);
}

static void test_tables_heed_their_parameters(void **state)
{
	struct gp_http_answer answer;
	struct scene scene;
	json_t *json;

	set_up(&scene);
	answer = get(&scene, "/api/summary", "by", "kernel,api", NULL);
	json = json_of(&answer);
	assert_int_equal(json_array_size(json), 2);
	json_decref(json);
	answer = get(&scene, "/api/summary", "by", "api", "top", "1", "sort", "Name", NULL);
	json = json_of(&answer);
	assert_int_equal(json_array_size(json_object_get(json, "rows")), 1);
	json_decref(json);
	tear_down(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_path_has_something),
		cmocka_unit_test(test_the_trace_is_the_same_each_time_and_a_part_is_less),
		cmocka_unit_test(test_no_other_path_is_reached),
		cmocka_unit_test(test_what_is_wrong_with_a_request_is_said),
		cmocka_unit_test(test_who_has_no_token_is_told_nothing),
		cmocka_unit_test(test_tables_heed_their_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
