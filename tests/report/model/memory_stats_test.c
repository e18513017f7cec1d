#include "report/model/memory_stats.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

static const struct gp_memory_row *find(const struct gp_memory_stats *stats, size_t device,
					uint8_t kind)
{
	for (size_t i = 0; i < stats->row_count; i++)
		if (stats->rows[i].device == device && stats->rows[i].kind == kind)
			return &stats->rows[i];
	fail_msg("no row for device %zu, kind %u", device, kind);
	return NULL;
}

static void peaks_are_of_the_sum_and_have_a_time(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;
	const struct gp_memory_row *row;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 1000);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 200, 0x2000, 500);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 300, 0x1000, 0);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ARRAY, 400, 0x3000, 1000);
	b.model = build_end(&b);
	assert_int_equal(gp_memory_stats_of(&b.model, 1, &devices, &stats), 0);
	row = find(&stats, 0, GP_MEMORY_OF_DEVICE);
	assert_int_equal(row->peak_bytes, 1500);
	assert_int_equal(row->peak_time, BUILD_BASE_UNIX_NS + 200);
	assert_int_equal(row->now_bytes, 1500);
	assert_int_equal(row->allocations, 3);
	assert_int_equal(row->frees, 1);
	assert_int_equal(row->allocated_bytes, row->freed_bytes + 1500);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->peak_bytes, 1000);
	assert_int_equal(find(&stats, 0, GP_MEMORY_ASYNC)->now_bytes, 500);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

static void host_and_foreign_memory_are_not_the_devices(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 10);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 200, 0x2000, 20);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_REGISTERED, 300, 0x3000, 40);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 400, 0x4000, 80);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_IPC, 500, 0x5000, 160);
	b.model = build_end(&b);
	assert_int_equal(gp_memory_stats_of(&b.model, 1, &devices, &stats), 0);
	assert_int_equal(find(&stats, 0, GP_MEMORY_OF_DEVICE)->peak_bytes, 10);
	assert_int_equal(find(&stats, 0, GP_MEMORY_MANAGED)->peak_bytes, 80);
	assert_int_equal(find(&stats, SIZE_MAX, GP_MEMORY_PINNED)->peak_bytes, 20);
	assert_int_equal(find(&stats, SIZE_MAX, GP_MEMORY_REGISTERED)->peak_bytes, 40);
	assert_int_equal(stats.rows[stats.row_count - 1].device, SIZE_MAX);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

/* cudaMalloc of 0 bytes succeeds with no address; to free that is allowed, and does nothing. */
static void an_allocation_of_nothing_leaves_nothing(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0, 0);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 200, 0, 0);
	b.model = build_end(&b);
	assert_int_equal(gp_memory_stats_of(&b.model, 1, &devices, &stats), 0);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->allocations, 0);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->frees, 0);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

static void unknown_frees_take_nothing_away(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;
	const struct gp_memory_row *row;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 10);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 200, 0x9999, 0);
	b.model = build_end(&b);
	assert_int_equal(b.model->losses.frees_unknown, 1);
	assert_int_equal(gp_memory_stats_of(&b.model, 1, &devices, &stats), 0);
	row = find(&stats, 0, GP_MEMORY_DEVICE);
	assert_int_equal(row->now_bytes, 10);
	assert_int_equal(row->frees, 0);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

static void the_driver_s_word_is_compared_with_ours_at_that_time(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 300);
	build_usage(&b, 0, 150, 600, 1000);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 200, 0x2000, 50);
	b.model = build_end(&b);
	assert_int_equal(gp_memory_stats_of(&b.model, 1, &devices, &stats), 0);
	assert_int_equal(stats.usage_count, 1);
	assert_int_equal(stats.usages[0].in_use_bytes, 400);
	assert_int_equal(stats.usages[0].own_bytes, 300);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(b.model);
}

/* The peak of both together is not the sum of their peaks. */
static void processes_are_merged_in_time(void **state)
{
	struct build first = build_begin(1), second = build_begin(2);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;
	struct gp_model *models[2];

	build_memory(&first, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 1000);
	build_memory(&first, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 200, 0x1000, 0);
	build_memory(&second, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 150, 0x1000, 10);
	build_memory(&second, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 300, 0x2000, 900);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	assert_int_equal(gp_memory_stats_of(models, 2, &devices, &stats), 0);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->peak_bytes, 1010);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->now_bytes, 910);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* Processes one after the other: what the first did not free is gone when the second begins. */
static void what_a_process_leaves_ends_with_it(void **state)
{
	struct build first = build_begin(1), second = build_begin(2);
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats;
	struct gp_model *models[2];

	build_memory(&first, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 300);
	build_memory(&second, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 5000, 0x1000, 200);
	build_usage(&second, 0, 6000, 600, 1000);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	assert_int_equal(gp_memory_stats_of(models, 2, &devices, &stats), 0);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->peak_bytes, 300);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->now_bytes, 200);
	assert_int_equal(find(&stats, 0, GP_MEMORY_DEVICE)->allocated_bytes, 500);
	assert_int_equal(stats.usages[0].own_bytes, 200);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peaks_are_of_the_sum_and_have_a_time),
		cmocka_unit_test(host_and_foreign_memory_are_not_the_devices),
		cmocka_unit_test(an_allocation_of_nothing_leaves_nothing),
		cmocka_unit_test(unknown_frees_take_nothing_away),
		cmocka_unit_test(the_driver_s_word_is_compared_with_ours_at_that_time),
		cmocka_unit_test(processes_are_merged_in_time),
		cmocka_unit_test(what_a_process_leaves_ends_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
