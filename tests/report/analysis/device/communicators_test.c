/* communicators: the communicator of an operation, by the ranges of NCCL around its launch. */
#include "tests/unit.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/communicators.h"
#include "tests/report/model_builder.h"

#define MOST      8
#define LAUNCH_NS 5000

static const char schema[] = "1\t24\tCall\n"
			     "0\t18\t0\t0\tNCCL communicator ID\n"
			     "0\t22\t8\t0\tMessage size [bytes]\n"
			     "0\t5\t16\t0\tNo. of ranks\n";

/* In the order of their starts; end 0: as long as 100 ns. */
struct range {
	const char *text;
	uint64_t communicator, bytes, ranks; /* no communicator: no payload */
	uint64_t start_ns, end_ns;
	uint32_t domain; /* 1 is NCCL's, 2 has no name */
	uint32_t thread; /* 0: the launching one, 100 */
};

static uint64_t payloads[MOST][3];

static struct build build_ranges(const struct range *ranges)
{
	struct build b = build_begin(1);
	struct gp_text *texts = calloc(MOST + 1, sizeof(*texts));

	build_check(texts != NULL);
	build_domain(&b, "NCCL");
	texts[0] = (struct gp_text){GP_STRING_SCHEMA, 1, 0, sizeof(schema) - 1, (char *)schema};
	b.model->texts = texts;
	b.model->text_count = 1;
	for (uint32_t i = 0; ranges[i].text; i++) {
		uint64_t end_ns = ranges[i].end_ns ? ranges[i].end_ns : ranges[i].start_ns + 100;
		struct gp_range *range;

		build_range(&b, ranges[i].thread ? ranges[i].thread : 100, ranges[i].text,
			    ranges[i].start_ns, end_ns);
		range = &b.model->ranges[i];
		range->domain = ranges[i].domain;
		if (ranges[i].communicator == 0)
			continue;
		memcpy(payloads[i],
		       (uint64_t[]){ranges[i].communicator, ranges[i].bytes, ranges[i].ranks}, 24);
		texts[b.model->text_count] = (struct gp_text){
			GP_STRING_PAYLOAD, b.model->text_count, 1, 24, (char *)payloads[i]};
		range->extended_payload = b.model->text_count++;
	}
	return b;
}

static void free_ranges(struct gp_model *model)
{
	free(model->texts);
	model->texts = NULL;
	model->text_count = 0;
	gp_model_free(model);
}

static void a_kernel_has_the_communicator_of_its_call(void **state)
{
	static const struct {
		struct range ranges[MOST];
		struct gp_nccl_call call;
	} cases[] = {
		/* launched within the range, in an inner one of another domain, or of none */
		{{{"ncclAllReduce", 7, 64, 0, 4900, 5100, 1, 0}}, {7, 64}},
		{{{"ncclAllReduce", 7, 64, 0, 4900, 5100, 1, 0},
		  {"inner", 8, 32, 0, 4950, 5050, 0, 0}},
		 {7, 64}},
		{{{"ncclAllReduce", 7, 64, 0, 4900, 5100, 1, 0},
		  {"inner", 8, 32, 0, 4950, 5050, 9, 0}},
		 {7, 64}},
		/* its end is the launch, its start too; it is over; it is of another thread */
		{{{"ncclAllReduce", 7, 64, 0, 4900, 5000, 1, 0}}, {7, 64}},
		{{{"ncclAllReduce", 7, 64, 0, 5000, 5100, 1, 0}}, {7, 64}},
		{{{"ncclAllReduce", 7, 64, 0, 4900, 4999, 1, 0}}, {0, 0}},
		{{{"ncclAllReduce", 7, 64, 0, 4900, 5100, 1, 99}}, {0, 0}},
		/* in the end of a group: of one collective, of two of one communicator or of two */
		{{{"ncclGroupStart", 0, 0, 0, 1000, 0, 1, 0},
		  {"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4900, 5100, 1, 0}},
		 {7, 64}},
		{{{"ncclGroupStart", 0, 0, 0, 1000, 0, 1, 0},
		  {"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclRecv", 7, 64, 0, 3000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4900, 5100, 1, 0}},
		 {7, 0}},
		{{{"ncclGroupStart", 0, 0, 0, 1000, 0, 1, 0},
		  {"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclRecv", 8, 64, 0, 3000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4900, 5100, 1, 0}},
		 {0, 0}},
		/* with a group within it; what is before its start is none of it */
		{{{"ncclRecv", 8, 64, 0, 500, 0, 1, 0},
		  {"ncclGroupStart", 0, 0, 0, 1000, 0, 1, 0},
		  {"ncclGroupStart", 0, 0, 0, 1500, 0, 1, 0},
		  {"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 3000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4900, 5100, 1, 0}},
		 {7, 64}},
		/* without its start it may have more */
		{{{"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4900, 5100, 1, 0}},
		 {0, 0}},
		{{{"ncclGroupStart", 0, 0, 0, 1500, 0, 1, 0},
		  {"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 3000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4900, 5100, 1, 0}},
		 {0, 0}},
		/* the group is over */
		{{{"ncclGroupStart", 0, 0, 0, 1000, 0, 1, 0},
		  {"ncclSend", 7, 64, 0, 2000, 0, 1, 0},
		  {"ncclGroupEnd", 0, 0, 0, 4000, 0, 1, 0}},
		 {0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct build b = build_ranges(cases[i].ranges);
		struct gp_model *model;
		struct gp_nccl_call call;

		build_call(&b, 100, BUILD_LAUNCH, LAUNCH_NS, 5, 1);
		build_op(&b, GP_OP_KERNEL, 7, 6000, 7000, 1);
		model = build_end(&b);
		call = gp_nccl_call_of(model, &model->ops[0]);
		if (call.communicator != cases[i].call.communicator ||
		    call.bytes != cases[i].call.bytes)
			fail_msg("case %zu: %lu with %lu bytes", i, call.communicator, call.bytes);
		free_ranges(model);
	}
}

static void without_a_call_nothing_is_known(void **state)
{
	const struct range ranges[MOST] = {{"ncclAllReduce", 7, 64, 0, 4900, 5100, 1, 0}};
	struct build b = build_ranges(ranges);
	struct gp_model *model;

	(void)state;
	build_op(&b, GP_OP_KERNEL, 7, 6000, 7000, 1);
	model = build_end(&b);
	assert_int_equal(gp_nccl_call_of(model, &model->ops[0]).communicator, 0);
	free_ranges(model);
}

/* By those that made or ended them; the first one that tells. */
static void communicators_have_sizes(void **state)
{
	const struct range ranges[MOST] = {
		{"ncclCommInitRank", 7, 0, 4, 1000, 0, 1, 0},
		{"ncclCommInitRank", 8, 0, 0, 2000, 0, 1, 0},
		{"ncclAllReduce", 9, 0, 3, 3000, 0, 1, 0},
		{"ncclCommDestroy", 8, 0, 2, 4000, 0, 1, 0},
		{"ncclCommDestroy", 7, 0, 5, 5000, 0, 1, 0},
		{"ncclCommInitRank", 10, 0, 6, 6000, 0, 0, 0},
		{"ncclCommInitRank", 11, 0, UINT64_C(1) << 32, 7000, 0, 1, 0},
	};
	struct build b = build_ranges(ranges);
	struct gp_communicators found = {0};
	struct gp_model *model = build_end(&b);

	(void)state;
	assert_int_equal(gp_communicators_find(&found, model), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(gp_communicators_ranks(&found, 7), 4);
	assert_int_equal(gp_communicators_ranks(&found, 8), 2);
	assert_int_equal(gp_communicators_ranks(&found, 9), 0);
	gp_communicators_free(&found);
	free_ranges(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_has_the_communicator_of_its_call),
		cmocka_unit_test(without_a_call_nothing_is_known),
		cmocka_unit_test(communicators_have_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
