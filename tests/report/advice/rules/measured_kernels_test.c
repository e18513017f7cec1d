/* Rules about kernels with hardware counters: what each tells of known values, and what it claims. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define US        1000u
#define TIMES     20
#define MEASURED  4 /* of these */
#define TOOK_US   500
#define SMS       132u
#define CYCLES    1e6 /* of an SM, in a launch */
#define VALUES    9
#define GLOBAL(x) "l1tex__t_sectors_pipe_lsu_mem_global_op_" x ".sum"
#define INST(x)   "smsp__inst_executed_op_" x ".sum"

struct scene {
	const char *rule; /* NULL: nothing is told */
	uint32_t percent; /* of the kernel's time that is claimed */
	struct {
		const char *counter;
		double value;
	} values[VALUES];
};

static void count(struct build *b, uint32_t op, const char *counter, double value)
{
	struct gp_model *m = b->model;
	uint32_t text = 0, at = BUILD_GROW(b, counted, counted_count);

	while (text < m->counter_text_count && strcmp(m->counter_texts[text], counter) != 0)
		text++;
	if (text == m->counter_text_count) {
		BUILD_GROW(b, counter_texts, counter_text_count);
		m->counter_texts[text] = build_copy_text(counter);
	}
	m->counted[at] =
		(struct gp_counted){.op = op, .counter = text, .value = value, .window = GP_NONE};
}

/* A kernel of which each fifth launch was measured. */
static struct gp_model *launch(const struct scene *scene)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "k"), shape = build_shape(&b, SMS * 8, 256);

	build_device(&b, 0, "GPU");
	build_context_made_by(&b, 1, 7, 0);
	for (uint32_t i = 1; i <= TIMES; i++) {
		uint64_t at_ns = i * (TOOK_US + 10ull) * US;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5 * US, i);
		op = build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + (10 + TOOK_US) * US, i);
		op->name = name;
		op->shape = shape;
		for (size_t v = 0; i % (TIMES / MEASURED) == 0 && scene->values[v].counter; v++)
			count(&b, i - 1, scene->values[v].counter, scene->values[v].value);
	}
	return build_end(&b);
}

static void check(const struct scene *scene)
{
	static const char *const rules[] = {"uncoalesced", "bank-conflicts", "local-memory",
					    "old-tensor-path"};
	struct gp_model *model = launch(scene);
	struct gp_advice advice = ask(&model, 1);

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct gp_finding *found = find(&advice, rules[i]);

		if (!scene->rule || strcmp(scene->rule, rules[i]) != 0) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_int_equal(found->count, TIMES);
		assert_string_equal(text_of(found, "kernel"), "k");
		assert_int_equal(value_of(found, "measured"), MEASURED);
		assert_in_range(found->saves_ns,
				(uint64_t)TIMES * TOOK_US * US * scene->percent / 100 - TIMES,
				(uint64_t)TIMES * TOOK_US * US * scene->percent / 100 + TIMES);
	}
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void check_all(const struct scene *scenes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&scenes[i]);
}

#define CHECK_ALL(scenes) check_all(scenes, sizeof(scenes) / sizeof((scenes)[0]))

#define ACCESSES(all, loads, load_sectors, stores, store_sectors)                                  \
	{"sm__cycles_active.avg", CYCLES}, {"l1tex__t_sectors.sum", all},                          \
		{INST("global_ld"), loads}, {GLOBAL("ld"), load_sectors},                          \
		{INST("global_st"), stores},                                                       \
	{                                                                                          \
		GLOBAL("st"), store_sectors                                                        \
	}

/* A tenth of a sector in each cycle of each SM is 13.2 million. */
static void sectors_in_vain(void **state)
{
	static const struct scene scenes[] = {
		/* 28 of 32 sectors of each load, of 40 in all */
		{"uncoalesced", 70, {ACCESSES(40e6, 1e6, 32e6, 1e6, 4e6)}},
		{"uncoalesced", 80, {ACCESSES(35e6, 0, 0, 1e6, 32e6)}},
		{"uncoalesced", 80, {ACCESSES(70e6, 1e6, 32e6, 1e6, 32e6)}},
		{NULL, 0, {ACCESSES(20e6, 1e6, 16e6, 1e6, 4e6)}}, /* 16 bytes a thread */
		{NULL, 0, {ACCESSES(36e4, 1e4, 32e4, 1e4, 4e4)}}, /* few */
		{NULL,
		 0,
		 {{INST("global_ld"), 1e6}, {GLOBAL("ld"), 32e6}}}, /* the rest is unknown */
	};

	CHECK_ALL(scenes);
}

static void conflicts_of_banks(void **state)
{
#define SHARED(pipe, wavefronts, conflicts)                                                        \
	{"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", pipe},                \
		{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", wavefronts},                    \
	{                                                                                          \
		"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", conflicts                    \
	}
	static const struct scene scenes[] = {
		{"bank-conflicts", 72, {SHARED(80, 100, 90)}},
		{"bank-conflicts", 15, {SHARED(30, 100, 50)}},
		{NULL, 0, {SHARED(80, 100, 40)}},
		{NULL, 0, {SHARED(20, 100, 90)}},
		{NULL, 0, {SHARED(80, 0, 0)}},
	};

	CHECK_ALL(scenes);
}

#define LOCAL(loads, stores)                                                                       \
	{INST("local_ld"), loads},                                                                 \
	{                                                                                          \
		INST("local_st"), stores                                                           \
	}

/* Two fifths of a sector in each cycle of each SM are 52.8 million. */
static void variables_in_local_memory(void **state)
{
	static const struct scene scenes[] = {
		/* 100 million sectors that are not of global memory */
		{"local-memory", 50, {ACCESSES(200e6, 20e6, 80e6, 5e6, 20e6), LOCAL(20e6, 5e6)}},
		/* more than the instructions can access: of atomics */
		{"local-memory", 40, {ACCESSES(200e6, 0, 0, 0, 0), LOCAL(4e6, 1e6)}},
		{NULL, 0, {ACCESSES(200e6, 40e6, 160e6, 0, 0), LOCAL(10e6, 0)}}, /* a fifth */
		{NULL, 0, {ACCESSES(20e6, 1e6, 4e6, 1e6, 4e6), LOCAL(2e6, 1e6)}},
		{NULL, 0, {ACCESSES(200e6, 25e6, 100e6, 25e6, 100e6), LOCAL(0, 0)}},
	};

	CHECK_ALL(scenes);
}

static void tensor_cores_as_on_older_gpus(void **state)
{
#define TENSOR(pipe, hmma, gmma)                                                                   \
	{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", pipe},                  \
		{"sm__inst_executed_pipe_tensor_op_hmma.sum", hmma},                               \
	{                                                                                          \
		"sm__inst_executed_pipe_tensor_op_gmma.sum", gmma                                  \
	}
	static const struct scene scenes[] = {
		{"old-tensor-path", 36, {TENSOR(90, 1e6, 0)}},
		{NULL, 0, {TENSOR(90, 0, 1e6)}},
		{NULL, 0, {TENSOR(90, 1e6, 1e6)}},
		{NULL, 0, {TENSOR(20, 1e6, 0)}},
		{NULL, 0, {{"sm__inst_executed_pipe_tensor_op_hmma.sum", 1e6}}},
	};

	CHECK_ALL(scenes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sectors_in_vain),
		cmocka_unit_test(conflicts_of_banks),
		cmocka_unit_test(variables_in_local_memory),
		cmocka_unit_test(tensor_cores_as_on_older_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
