#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/answers/lone_ops.h"
#include "tests/report/model_builder.h"

#define US 1000ull
#define MS 1000000ull

#define STREAM 7
#define COPIES 20
#define LONG   12 /* the number of the long one */

/* Copies of 1 us, 10 us apart, but for one that takes so long; it moves so many bytes, all others one. */
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

static struct gp_lone_op find(struct gp_model *model)
{
	struct gp_device_list devices = {0};
	char message[256];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	struct gp_lone_op found;

	assert_non_null(kinds);
	assert_int_equal(gp_device_list_all(&devices, &model, 1), 0);
	assert_int_equal(gp_lone_op_find(&found, &model, 1, &devices, kinds), 0);
	gp_kinds_free(kinds);
	gp_device_list_free(&devices);
	return found;
}

static void one_of_many_that_takes_most_of_the_time_is_found(void **state)
{
	struct build b = build_copies(500 * MS, 1);
	struct gp_model *model = build_end(&b);
	struct gp_lone_op found = find(model);

	(void)state;
	assert_int_equal(found.op, LONG);
	assert_int_equal(found.like, COPIES);
	assert_false(found.is_first);
	assert_int_equal(found.usual_ns, US);
	assert_int_equal(found.all_ns, 500 * MS + (COPIES - 1) * US);
	assert_int_equal(found.clashes, 0);
	assert_int_equal(found.alone_ns, 500 * MS);
	gp_model_free(model);
}

/* Neither one that moves as much more, nor a short one, nor one of which all are as long. */
static void what_its_like_explain_is_not(void **state)
{
	struct build b = build_copies(500 * MS, 100000);
	struct gp_model *model = build_end(&b);

	(void)state;
	assert_int_equal(find(model).op, GP_NONE);
	gp_model_free(model);
	b = build_copies(MS / 2, 1);
	model = build_end(&b);
	assert_int_equal(find(model).op, GP_NONE);
	gp_model_free(model);
	b = build_copies(500 * MS, 1);
	for (uint32_t i = 0; i < COPIES; i++)
		b.model->ops[i].end_ns = b.model->ops[i].start_ns + 2 * MS;
	model = build_end(&b);
	assert_int_equal(find(model).op, GP_NONE);
	gp_model_free(model);
}

/* First uses take longer for reasons of their own. */
static void it_may_be_the_first(void **state)
{
	struct build b = build_copies(US, 1);
	struct gp_model *model;

	(void)state;
	b.model->ops[0].start_ns = 0;
	b.model->ops[0].end_ns = 3 * MS;
	model = build_end(&b);
	assert_true(find(model).is_first);
	gp_model_free(model);
}

/* Three kernels within the time of the long copy: of its stream, of another one, and launched to begin early.  So many of the two that clash are nodes of a graph. */
static struct gp_model *build_clashing(uint32_t nodes, const char *recorder)
{
	struct build b = build_copies(500 * MS, 1);
	uint64_t at_ns = b.model->ops[LONG].start_ns;
	uint32_t name = build_name(&b, "k");

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t start_ns = at_ns + (i + 1) * 100 * MS;

		build_call(&b, 100, BUILD_LAUNCH, start_ns - US, 500, 100 + i)->overlapping =
			i == 2;
		build_op(&b, GP_OP_KERNEL, i == 1 ? STREAM + 1 : STREAM, start_ns,
			 start_ns + 10 * MS, 100 + i)
			->name = name;
	}
	if (nodes > 0)
		b.model->ops[COPIES].graph_id = 3;
	if (nodes > 1)
		b.model->ops[LONG].graph_id = 3;
	b.model->recorder = recorder;
	return build_end(&b);
}

static void what_its_own_stream_did_meanwhile_contradicts_its_time(void **state)
{
	struct gp_model *model = build_clashing(0, NULL);
	struct gp_lone_op found = find(model);

	(void)state;
	assert_int_equal(found.clashes, 1);
	assert_int_equal(found.alone_ns, (500 - 3 * 10) * MS);
	assert_int_equal(gp_ops_count_clashes(model), 1);
	gp_model_free(model);
	model = build_clashing(1, NULL); /* a stream does a graph after what is none */
	assert_int_equal(find(model).clashes, 1);
	assert_int_equal(gp_ops_count_clashes(model), 1);
	gp_model_free(model);
	model = build_clashing(2, NULL);
	assert_int_equal(find(model).clashes, 0);
	assert_int_equal(gp_ops_count_clashes(model), 0);
	gp_model_free(model);
	model = build_clashing(0, "torch.profiler");
	assert_int_equal(gp_ops_count_clashes(model), 0);
	gp_model_free(model);
}

/* A kernel that communicates waits for those of others, who may begin later. */
static void who_waits_for_others_is_none(void **state)
{
	static const char *const names[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "step"};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct build b = build_copies(500 * MS, 1);
		uint32_t name = build_name(&b, names[i]);
		struct gp_model *model;

		for (uint32_t j = 0; j < COPIES; j++) {
			b.model->ops[j].kind = GP_OP_KERNEL;
			b.model->ops[j].name = name;
		}
		model = build_end(&b);
		assert_int_equal(find(model).op, i == 0 ? GP_NONE : LONG);
		gp_model_free(model);
	}
}

/* Clocks differ by less than a microsecond; and who comes after the longest one so far is told of, too. */
static void clashes_are_counted_whatever_lies_between(void **state)
{
	static const uint64_t times_us[][2] = {{0, 100}, {10, 20}, {30, 40}, {99, 200}, {200, 300}};
	struct build b = build_begin(1);
	struct gp_model *model;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		build_op(&b, GP_OP_COPY, STREAM, times_us[i][0] * US, times_us[i][1] * US, i + 1)
			->copy_kind = GP_COPY_DTOD;
	model = build_end(&b);
	assert_int_equal(gp_ops_count_clashes(model), 2);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many_that_takes_most_of_the_time_is_found),
		cmocka_unit_test(what_its_like_explain_is_not),
		cmocka_unit_test(it_may_be_the_first),
		cmocka_unit_test(what_its_own_stream_did_meanwhile_contradicts_its_time),
		cmocka_unit_test(who_waits_for_others_is_none),
		cmocka_unit_test(clashes_are_counted_whatever_lies_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
