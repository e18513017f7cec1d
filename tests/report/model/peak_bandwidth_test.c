#include <math.h>

#include "report/model/peak_bandwidth.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"
#include "tests/report/trace_builder.h"

enum { HTOD = 1, DTOH = 2, DTOD = 8, HTOH = 9, PTOP = 10 };

static struct gp_record_link pcie(uint16_t generation, uint32_t lanes)
{
	return (struct gp_record_link){
		.link_kind = GP_LINK_PCIE, .generation = generation, .lanes = lanes};
}

static struct gp_record_link nvlink(uint16_t device_id, uint32_t lanes)
{
	return (struct gp_record_link){.device_id = device_id,
				       .link_kind = GP_LINK_NVLINK,
				       .lanes = lanes,
				       .lane_mbytes_per_s = 26562};
}

/* As tables of PCI Express have them: of 16 lanes, in GB/s, to three digits. */
static void test_links_have_the_rates_of_their_generation(void **state)
{
	static const double expected[] = {0, 4.0, 8.0, 15.75, 31.51, 63.02, 121.0, 0};

	for (uint16_t generation = 0; generation < 8; generation++) {
		struct gp_record_link link = pcie(generation, 16);

		assert_true(fabs(gp_link_peak(&link) / 1e9 - expected[generation]) < 0.006);
	}
	assert_true(fabs(gp_link_peak(&(struct gp_record_link){
				 .link_kind = GP_LINK_PCIE, .generation = 4, .lanes = 8}) /
				 1e9 -
			 15.75) < 0.006);
	assert_true(gp_link_peak(&(struct gp_record_link){.link_kind = GP_LINK_PCIE,
							  .generation = UINT16_MAX,
							  .lanes = UINT32_MAX}) == 0);
	assert_true(gp_link_peak(NULL) == 0);
}

static double peak_of(const struct gp_model *model, uint8_t copy_kind)
{
	const struct gp_op op = {.kind = GP_OP_COPY, .copy_kind = copy_kind, .detail = 1};

	return gp_copy_peak(model, &op);
}

static void test_each_direction_has_its_peak(void **state)
{
	struct gp_record_link links[] = {pcie(5, 16), nvlink(0, 18)};
	struct gp_record_device device = {.memory_bandwidth_kbytes_per_s = 4800000000};
	struct gp_op_detail detail = {.destination_device_id = 0};
	struct gp_model model = {
		.links = links,
		.link_count = 1,
		.devices = &device,
		.device_count = 1,
		.details = &detail,
		.detail_count = 1,
	};

	assert_true(peak_of(&model, HTOD) == gp_link_peak(&links[0]));
	assert_true(peak_of(&model, DTOH) == gp_link_peak(&links[0]));
	assert_true(peak_of(&model, DTOD) == 2.4e12);
	assert_true(peak_of(&model, HTOH) == 0);
	assert_true(peak_of(&model, PTOP) == 0);
	model.link_count = 2;
	assert_true(fabs(peak_of(&model, PTOP) - 18 * 26562e6) < 1);
	detail.destination_device_id = 1; /* of which nothing is known */
	assert_true(peak_of(&model, PTOP) == 0);
	model.link_count = model.device_count = 0;
	assert_true(peak_of(&model, HTOD) == 0 && peak_of(&model, DTOD) == 0);
}

static void test_what_is_faster_than_its_peak_went_another_way(void **state)
{
	assert_true(gp_copy_peak_is_known(0, 90, 100));
	assert_false(gp_copy_peak_is_known(0, 101, 100));
	assert_false(gp_copy_peak_is_known(1, 90, 100));
}

/* In any order, twice, and of devices that cannot be. */
static void test_a_trace_s_links_are_found(void **state)
{
	struct gp_builder b;
	struct gp_model *model;
	const struct {
		uint16_t device_id, kind, generation;
	} rows[] = {{1, GP_LINK_NVLINK, 0},        {1, GP_LINK_PCIE, 4}, {0, GP_LINK_PCIE, 3},
		    {UINT16_MAX, GP_LINK_PCIE, 5}, {0, UINT16_MAX, 5},   {0, GP_LINK_PCIE, 5}};

	gp_builder_init(&b);
	gp_builder_start(&b);
	gp_builder_chunk(&b, 0, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		gp_builder_add(&b, &(struct gp_record_link){.kind = GP_RECORD_LINK,
							    .device_id = rows[i].device_id,
							    .link_kind = rows[i].kind,
							    .generation = rows[i].generation,
							    .lanes = 16});
	model = gp_builder_load(&b);
	assert_int_equal(model->link_count, 4);
	assert_int_equal(gp_model_link(model, 0, GP_LINK_PCIE)->generation, 5);
	assert_int_equal(gp_model_link(model, 1, GP_LINK_PCIE)->generation, 4);
	assert_non_null(gp_model_link(model, 1, GP_LINK_NVLINK));
	assert_null(gp_model_link(model, 0, GP_LINK_NVLINK));
	gp_model_free(model);
	gp_builder_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_have_the_rates_of_their_generation),
		cmocka_unit_test(test_each_direction_has_its_peak),
		cmocka_unit_test(test_what_is_faster_than_its_peak_went_another_way),
		cmocka_unit_test(test_a_trace_s_links_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
