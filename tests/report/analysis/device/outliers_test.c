#include "report/analysis/device/outliers.h"
#include "report/model/build/bad_timestamps.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define US 1000ull
#define MS 1000000ull

#define STREAM 7
#define COPIES 20
#define LONG   12 /* the number of the long one */

/*
 * Copies of 1 us, 10 us apart, but for one that takes so long; it moves so many bytes, all others
 * one.
 */
static struct build build_copies(uint64_t long_ns, uint64_t bytes)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	for (uint32_t i = 0; i < COPIES; i++) {
		uint64_t ns = i == LONG ? long_ns : US;
		struct gp_op *op;

		build_call(&b, 100, BUILD_MEMCPY_ASYNC, at_ns - US, 500, i + 1);
		op = build_op(&b, GP_OP_COPY, STREAM, at_ns, at_ns + ns, i + 1);
		op->copy_kind = GP_COPY_DTOD;
		op->bytes = i == LONG ? bytes : 1;
		at_ns += ns + 10 * US;
	}
	return b;
}

static struct gp_outlier find(struct gp_model *model)
{
	struct gp_device_list devices = {0};
	char message[256];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	struct gp_outlier found;

	assert_non_null(kinds);
	assert_int_equal(gp_device_list_all(&devices, &model, 1), 0);
	gp_outlier_find(&found, &model, 1, &devices, kinds);
	gp_kinds_free(kinds);
	gp_device_list_free(&devices);
	return found;
}

static void one_of_many_that_takes_most_of_the_time_is_found(void **state)
{
	struct build b = build_copies(500 * MS, 1);
	struct gp_model *model = build_end(&b);
	struct gp_outlier found = find(model);

	assert_ptr_equal(found.op, &model->ops[LONG]);
	assert_int_equal(found.like, COPIES);
	assert_false(found.is_first);
	assert_int_equal(found.usual_ns, US);
	assert_int_equal(found.all_ns, 500 * MS + (COPIES - 1) * US);
	assert_int_equal(found.alone_ns, 500 * MS);
	gp_model_free(model);
}

/* Neither one that moves as much more, nor a short one, nor one of which all are as long. */
static void what_its_like_explain_is_not(void **state)
{
	struct build b = build_copies(500 * MS, 100000);
	struct gp_model *model = build_end(&b);

	assert_null(find(model).op);
	gp_model_free(model);
	b = build_copies(MS / 2, 1);
	model = build_end(&b);
	assert_null(find(model).op);
	gp_model_free(model);
	b = build_copies(500 * MS, 1);
	for (uint32_t i = 0; i < COPIES; i++)
		b.model->ops[i].end_ns = b.model->ops[i].start_ns + 2 * MS;
	model = build_end(&b);
	assert_null(find(model).op);
	gp_model_free(model);
}

/* First uses take longer for reasons of their own. */
static void it_may_be_the_first(void **state)
{
	struct build b = build_copies(US, 1);
	struct gp_model *model;

	b.model->ops[0].start_ns = 0;
	b.model->ops[0].end_ns = 3 * MS;
	model = build_end(&b);
	assert_true(find(model).is_first);
	gp_model_free(model);
}

/* So many kernels, of its stream, within the time of the long copy. */
static struct gp_model *build_contradicted(uint32_t kernels)
{
	struct build b = build_copies(500 * MS, 1);
	uint64_t at_ns = b.model->ops[LONG].start_ns;
	uint32_t name = build_name(&b, "k");
	struct gp_model *model;

	for (uint32_t i = 0; i < kernels; i++) {
		uint64_t start_ns = at_ns + (i + 1) * 10 * MS;

		build_call(&b, 100, BUILD_LAUNCH, start_ns - US, 500, 100 + i);
		build_op(&b, GP_OP_KERNEL, STREAM, start_ns, start_ns + MS, 100 + i)->name = name;
	}
	model = build_end(&b);
	assert_int_equal(gp_untime_contradicted(model), 0);
	return model;
}

static struct gp_outlier find_wrong(struct gp_model *model)
{
	struct gp_outlier found;

	gp_outlier_find_wrong(&found, &model, 1);
	return found;
}

static void what_its_own_stream_contradicts_is_told_apart(void **state)
{
	struct gp_model *model = build_contradicted(12);
	struct gp_outlier found = find_wrong(model);

	assert_non_null(found.op);
	assert_int_equal(found.op->end_ns - found.op->start_ns, 500 * MS);
	assert_int_equal(found.like, COPIES);
	assert_false(found.is_first);
	assert_int_equal(found.usual_ns, US);
	assert_int_equal(found.clashes, 12);
	assert_int_equal(found.all_ns, 12 * MS + (COPIES - 1) * US);
	assert_null(find(model).op);
	gp_model_free(model);
	model = build_contradicted(2);
	assert_null(find_wrong(model).op);
	found = find(model);
	assert_non_null(found.op);
	assert_int_equal(found.alone_ns, 498 * MS);
	gp_model_free(model);
}

/* A kernel that communicates waits for those of others, who may begin later. */
static void who_waits_for_others_is_none(void **state)
{
	static const char *const names[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "step"};

	for (uint32_t i = 0; i < 2; i++) {
		struct build b = build_copies(500 * MS, 1);
		uint32_t name = build_name(&b, names[i]);
		struct gp_model *model;

		for (uint32_t j = 0; j < COPIES; j++) {
			b.model->ops[j].kind = GP_OP_KERNEL;
			b.model->ops[j].name = name;
		}
		model = build_end(&b);
		assert_ptr_equal(find(model).op, i == 0 ? NULL : &model->ops[LONG]);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many_that_takes_most_of_the_time_is_found),
		cmocka_unit_test(what_its_like_explain_is_not),
		cmocka_unit_test(it_may_be_the_first),
		cmocka_unit_test(what_its_own_stream_contradicts_is_told_apart),
		cmocka_unit_test(who_waits_for_others_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
