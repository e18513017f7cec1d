/* Memory in Perfetto's own format: each pool's counters. */
#include "report/export/export.h"
#include "tests/report/model_builder.h"
#include "tests/unit.h"

/* What a model with such pools becomes, to be freed; each is seen at two times. */
static char *export_pools(uint32_t pools, size_t *bytes)
{
	struct build b = build_begin(100);
	const struct gp_export_options options = {0};
	struct gp_model *model;
	FILE *out;
	char *text;

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 1, 1, 0);
	for (uint32_t i = 0; i < 2 * pools; i++) {
		uint32_t at = BUILD_GROW(&b, pools, pool_count);

		b.model->pools[at] = (struct gp_record_pool){.time_ns = 10 + i,
							     .address = 0x1000 + i % pools * 16,
							     .reserved_bytes = 64,
							     .op = 1};
	}
	model = build_end(&b);
	out = open_memstream(&text, bytes);
	assert_non_null(out);
	assert_int_equal(gp_export_model(&gp_exporter_perfetto, model, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	gp_model_free(model);
	return text;
}

static unsigned count_of(const char *bytes, size_t count, const char *text)
{
	const char *at = bytes, *end = bytes + count;
	unsigned found = 0;

	for (; (at = memmem(at, (size_t)(end - at), text, strlen(text))) != NULL; at++)
		found++;
	return found;
}

static void a_pool_has_its_counters_once(void **state)
{
	size_t bytes;
	char *text = export_pools(3, &bytes);

	assert_int_equal(count_of(text, bytes, "GPU 0 pool 0x1000: reserved"), 1);
	assert_int_equal(count_of(text, bytes, "GPU 0 pool 0x1010: used"), 1);
	assert_int_equal(count_of(text, bytes, "GPU 0 pool 0x"), 6);
	free(text);
}

/* A look at each of them for each took minutes. */
static void many_pools_take_as_long_as_many_events(void **state)
{
	enum { POOLS = 400000, MOST_SECONDS = 60 };
	size_t bytes;

	limit_processor_s(MOST_SECONDS);
	free(export_pools(POOLS, &bytes));
	limit_processor_s(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_has_its_counters_once),
		cmocka_unit_test(many_pools_take_as_long_as_many_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
