/* Communication during which the GPU does nothing else: how much of it, and where it is not told. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define US    1000ull
#define MS    1000000ull
#define STEPS 30u
#define WORK  (4 * MS) /* of each step, then its communication and perhaps other work */

enum { COMPUTING = 7, COMMUNICATING = 9 }; /* streams */

struct job {
	const char *kernel;    /* of the communication */
	uint64_t talk_ns;      /* its time in each step ... */
	uint64_t beside_ns;    /* ... and that of a kernel that begins with it */
	uint64_t late_ns;      /* before that it waits for a rank for so long */
	uint32_t stream;       /* of the communication */
	const char *rank;      /* NULL = there is one */
	bool lacks_operations; /* the trace does */
};

static const struct job usual = {.kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
				 .talk_ns = 3 * MS,
				 .stream = COMMUNICATING};

static void kernel(struct build *b, uint32_t stream, uint64_t start_ns, uint64_t ns, uint32_t name)
{
	uint32_t id = b->model->call_count + 1;

	build_call(b, 100, BUILD_LAUNCH, start_ns - 10 * US, 5 * US, id);
	build_op(b, GP_OP_KERNEL, stream, start_ns, start_ns + ns, id)->name = name;
}

static struct gp_model *build(const struct job *job)
{
	struct build b = build_begin(job->rank ? (uint32_t)atoi(job->rank) + 1 : 1);
	uint32_t device = job->rank ? (uint32_t)atoi(job->rank) : 0;
	uint32_t work = build_name(&b, "work"), other = build_name(&b, "other");
	uint32_t talk = build_name(&b, job->kernel);
	uint32_t stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "step", 7);

	build_device(&b, (uint16_t)device, "GPU");
	if (job->rank)
		build_info(&b, GP_INFO_RANK, job->rank);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t at_ns = MS + i * (WORK + 10 * MS);

		kernel(&b, COMPUTING, at_ns, WORK - job->late_ns, work);
		kernel(&b, job->stream, at_ns + WORK - job->late_ns, job->late_ns + job->talk_ns,
		       talk);
		build_stack_of_last(&b, stack);
		if (job->beside_ns > 0)
			kernel(&b, COMPUTING, at_ns + WORK, job->beside_ns, other);
	}
	for (uint32_t i = 0; i < b.model->op_count; i++)
		b.model->ops[i].device_id = (uint16_t)device;
	if (job->lacks_operations)
		b.model->losses.launches_without_op = 1;
	build_stacks_end(&b);
	return build_end(&b);
}

/* What is told of a job of one rank, or of two. */
static struct gp_advice ask_of(struct gp_model *models[2], const struct job *job,
			       const struct job *other)
{
	models[0] = build(job);
	models[1] = other ? build(other) : NULL;
	return ask(models, other ? 2 : 1);
}

static void end(struct gp_model *models[2], struct gp_advice *advice)
{
	gp_advice_free(advice);
	gp_model_free(models[0]);
	if (models[1])
		gp_model_free(models[1]);
}

static void check(const struct job *job, uint64_t exposed_ns, bool is_in_stream)
{
	struct gp_model *models[2];
	struct gp_advice advice = ask_of(models, job, NULL);
	const struct gp_finding *found = find(&advice, "exposed-comm");

	if (exposed_ns == 0) {
		assert_null(found);
	} else {
		assert_non_null(found);
		assert_int_equal(found->count, STEPS);
		assert_int_equal(found->time_ns, STEPS * job->talk_ns);
		assert_int_equal(value_of(found, "exposed_ns"), STEPS * exposed_ns);
		/* the last step may end with its last kernel of the other stream */
		assert_in_range(found->saves_in_loop_ns, (STEPS - 1) * exposed_ns,
				STEPS * exposed_ns);
		assert_string_equal(found->place, "step (train.py:7)");
		assert_int_equal(strstr(found->found, "in the stream of") != NULL, is_in_stream);
		assert_non_null(strstr(found->found, "may include waits for late ranks"));
	}
	end(models, &advice);
}

static void communication_that_nothing_overlaps_is_told(void **state)
{
	struct job job = usual;

	check(&job, 3 * MS, false);
	job.stream = COMPUTING;
	check(&job, 3 * MS, true);
}

static void only_what_nothing_overlaps_counts(void **state)
{
	struct job job = usual;

	job.beside_ns = MS;
	check(&job, 2 * MS, false);
	job.beside_ns = 3 * MS;
	check(&job, 0, false);
}

/* Less than a tenth of the step of 14 ms. */
static void a_little_is_usual(void **state)
{
	struct job job = usual;

	job.talk_ns = MS;
	check(&job, 0, false);
}

static void missing_operations_may_have_overlapped(void **state)
{
	struct job job = usual;

	job.lacks_operations = true;
	check(&job, 0, false);
}

/* RCCL's kernel does all collectives. */
static void a_kernel_that_names_no_collective_communicates(void **state)
{
	struct job job = usual;

	job.kernel = "ncclDevKernel_Generic_4";
	check(&job, 3 * MS, false);
}

/* Two ranks: the one that comes first waits 3 ms, and the transfer takes 3 ms or 0.5 ms. */
static void waits_for_a_late_rank_are_not_exposed_communication(void **state)
{
	for (uint32_t is_short = 0; is_short <= 1; is_short++) {
		struct job early = usual, late = usual;
		struct gp_model *models[2];
		const struct gp_finding *found;
		struct gp_advice advice;

		early.talk_ns = late.talk_ns = is_short ? 500 * US : 3 * MS;
		early.late_ns = 3 * MS;
		early.rank = "0";
		late.rank = "1";
		advice = ask_of(models, &early, &late);
		found = find(&advice, "exposed-comm");
		assert_int_equal(found != NULL, !is_short);
		if (found) {
			assert_int_equal(value_of(found, "exposed_ns"), STEPS * 3 * MS);
			assert_null(strstr(found->found, "may include waits for late ranks"));
		}
		assert_non_null(find(&advice, "late-rank"));
		end(models, &advice);
	}
}

/*
 * In each step another operation of 3 ms, 1 ms after the first one begins and in a stream of its own:
 * both take 4 ms.  Of two kinds the second one has the last millisecond alone.
 */
static void operations_that_overlap_count_once(void **state)
{
	static const struct {
		const char *other;
		uint64_t count, exposed_ns;
	} cases[] = {{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2 * STEPS, 4 * MS},
		     {"ncclDevKernel_AllGather_RING_LL", STEPS, 3 * MS}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_advice advice;
		struct gp_model *model;
		const struct gp_finding *found;
		struct build b = build_begin(1);
		uint32_t work = build_name(&b, "work"), talk = build_name(&b, usual.kernel);
		uint32_t other = i == 0 ? talk : build_name(&b, cases[i].other);

		build_device(&b, 0, "GPU");
		for (uint32_t step = 0; step < STEPS; step++) {
			uint64_t at_ns = MS + step * (WORK + 10 * MS);

			kernel(&b, COMPUTING, at_ns, WORK, work);
			kernel(&b, COMMUNICATING, at_ns + WORK, 3 * MS, talk);
			kernel(&b, COMMUNICATING + 1, at_ns + WORK + MS, 3 * MS, other);
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "exposed-comm");
		assert_non_null(found);
		assert_int_equal(found->count, cases[i].count);
		assert_int_equal(value_of(found, "exposed_ns"), STEPS * cases[i].exposed_ns);
		assert_int_equal(found->time_ns, STEPS * cases[i].exposed_ns);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(communication_that_nothing_overlaps_is_told),
		cmocka_unit_test(only_what_nothing_overlaps_counts),
		cmocka_unit_test(a_little_is_usual),
		cmocka_unit_test(missing_operations_may_have_overlapped),
		cmocka_unit_test(a_kernel_that_names_no_collective_communicates),
		cmocka_unit_test(operations_that_overlap_count_once),
		cmocka_unit_test(waits_for_a_late_rank_are_not_exposed_communication),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
