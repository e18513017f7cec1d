#include <cuda_occupancy.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"
#include "report/model/occupancy.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

static const struct gp_record_device h200 = {
	.compute_major = 9,
	.multiprocessors = 132,
	.warp_threads = 32,
	.max_threads_per_block = 1024,
	.max_threads_per_multiprocessor = 2048,
	.max_blocks_per_multiprocessor = 32,
	.registers_per_block = 65536,
	.registers_per_multiprocessor = 65536,
	.shared_per_multiprocessor_bytes = 233472,
	.memory_bandwidth_kbytes_per_s = 4800000000,
};

static struct gp_record_shape shape_of(uint16_t registers, uint32_t shared, uint32_t blocks,
				       uint32_t threads)
{
	return (struct gp_record_shape){.registers = registers,
					.dynamic_shared_bytes = shared,
					.grid = {blocks, 1, 1},
					.block = {threads, 1, 1}};
}

struct expected {
	uint16_t major, minor, registers;
	uint32_t shared, threads, blocks;
	enum gp_occupancy_limit limit;
};

/* What limits them; the numbers are those of the calculator that comes with the Toolkit. */
static void test_blocks_and_what_limits_them(void **state)
{
	static const struct expected all[] = {
		{9, 0, 32, 0, 256, 8, GP_LIMIT_NONE},
		{9, 0, 32, 0, 1024, 2, GP_LIMIT_NONE},
		{9, 0, 33, 0, 256, 6, GP_LIMIT_REGISTERS},
		{9, 0, 255, 0, 256, 1, GP_LIMIT_REGISTERS},
		{9, 0, 255, 0, 128, 2, GP_LIMIT_REGISTERS},
		{9, 0, 16, 0, 32, 32, GP_LIMIT_BLOCKS},
		{9, 0, 16, 0, 1, 32, GP_LIMIT_BLOCKS},
		{9, 0, 16, 0, 768, 2, GP_LIMIT_BLOCK_SIZE},
		{9, 0, 16, 227 * 1024, 256, 1, GP_LIMIT_SHARED},
		{9, 0, 16, 56320, 256, 4, GP_LIMIT_SHARED},
		{9, 0, 16, 56321, 256, 4, GP_LIMIT_SHARED},
		{9, 0, 16, 57345, 256, 3, GP_LIMIT_SHARED},
		{9, 0, 168, 200000, 384, 1, GP_LIMIT_REGISTERS},
		{8, 6, 16, 0, 32, 16, GP_LIMIT_BLOCKS},
		{8, 9, 16, 0, 32, 24, GP_LIMIT_BLOCKS},
		{7, 5, 16, 0, 32, 16, GP_LIMIT_BLOCKS},
		{7, 0, 16, 0, 32, 32, GP_LIMIT_BLOCKS},
		{6, 0, 40, 0, 96, 16, GP_LIMIT_REGISTERS},
		{6, 1, 40, 0, 96, 16, GP_LIMIT_REGISTERS},
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		struct gp_record_device device = h200;
		struct gp_record_shape shape =
			shape_of(all[i].registers, all[i].shared, 1, all[i].threads);
		struct gp_occupancy found;

		device.compute_major = all[i].major;
		device.compute_minor = all[i].minor;
		device.max_blocks_per_multiprocessor = 0; /* as traces without it have it */
		assert_true(gp_occupancy_of(&device, &shape, &found));
		assert_int_equal(found.blocks, all[i].blocks);
		assert_int_equal(found.limit, all[i].limit);
	}
}

struct chip {
	uint16_t major, minor;
	uint32_t threads, shared_bytes; /* of an SM */
};

static int said_by_cuda(const struct chip *chip, const struct gp_record_shape *shape)
{
	const bool reserves = chip->major >= 8;
	const uint32_t reserved = reserves ? 1024 : 0;
	const struct cudaOccDeviceProp device = {
		.computeMajor = chip->major,
		.computeMinor = chip->minor,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = (int)chip->threads,
		.regsPerBlock = 65536,
		.regsPerMultiprocessor = 65536,
		.warpSize = 32,
		.sharedMemPerBlock = 49152,
		.sharedMemPerMultiprocessor = chip->shared_bytes,
		.numSms = 10,
		.sharedMemPerBlockOptin = chip->major >= 7 ? chip->shared_bytes - reserved : 49152,
		.reservedSharedMemPerBlock = reserved,
	};
	const struct cudaOccFuncAttributes function = {
		.maxThreadsPerBlock = INT_MAX,
		.numRegs = shape->registers,
		.sharedSizeBytes = shape->static_shared_bytes,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = INT_MAX / 2,
		.numBlockBarriers = 1,
	};
	const struct cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
	struct cudaOccResult result;

	assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function,
								 &state, (int)shape->block[0],
								 shape->dynamic_shared_bytes),
			 CUDA_OCC_SUCCESS);
	return result.activeBlocksPerMultiprocessor;
}

static uint32_t random_number(uint32_t below)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

/* The calculator that comes with the Toolkit, on random shapes for each kind of chip. */
static void test_what_cuda_says(void **state)
{
	static const struct chip chips[] = {
		{5, 0, 2048, 65536},   {6, 0, 2048, 65536},   {6, 1, 2048, 98304},
		{7, 0, 2048, 98304},   {7, 5, 1024, 65536},   {8, 0, 2048, 167936},
		{8, 6, 1536, 102400},  {8, 7, 1536, 167936},  {8, 9, 1536, 102400},
		{9, 0, 2048, 233472},  {10, 0, 2048, 233472}, {10, 3, 2048, 233472},
		{11, 0, 1536, 233472}, {12, 0, 1536, 102400}, {12, 1, 1536, 102400},
	};
	uint32_t launchable = 0;

	for (size_t i = 0; i < COUNT(chips) * 4000; i++) {
		const struct chip *chip = &chips[i % COUNT(chips)];
		struct gp_record_device device = h200;
		struct gp_record_shape shape =
			shape_of((uint16_t)random_number(256),
				 random_number(random_number(2) ? 8192 : chip->shared_bytes), 1,
				 1 + random_number(1024));
		struct gp_occupancy found;
		int expected;

		shape.static_shared_bytes = random_number(2) ? 0 : random_number(20000);
		device.compute_major = chip->major;
		device.compute_minor = chip->minor;
		device.max_blocks_per_multiprocessor = 0;
		device.max_threads_per_multiprocessor = chip->threads;
		device.shared_per_multiprocessor_bytes = chip->shared_bytes;
		expected = said_by_cuda(chip, &shape);
		if (expected == 0)
			continue; /* it needs a larger chip */
		launchable++;
		assert_true(gp_occupancy_of(&device, &shape, &found));
		assert_int_equal(found.blocks, expected);
	}
	assert_true(launchable > 20000);
}

struct profiled {
	uint16_t registers;
	uint32_t shared, grid[3], block[3];
	double blocks_per_sm, warps_per_sm;
	int achieved_percent;
};

/*
 * torch.profiler's estimates of the kernels of a training step on an H200: each kind of launch that
 * it wrote.  Left out: a kernel with more than 48 KiB of shared memory, for which it says 0 because
 * it takes the limit of functions that did not ask for more.
 */
static const struct profiled kineto[] = {
	{16, 0, {1, 1, 1}, {32, 1, 1}, 0.007576, 0.007576, 0},
	{16, 0, {1, 1, 1}, {128, 1, 1}, 0.007576, 0.030303, 0},
	{16, 0, {450, 1, 1}, {256, 1, 1}, 3.409091, 27.272728, 43},
	{17, 64, {2, 1, 1}, {64, 1, 1}, 0.015152, 0.030303, 0},
	{18, 0, {900, 1, 1}, {128, 1, 1}, 6.818182, 27.272728, 43},
	{24, 0, {450, 1, 1}, {256, 1, 1}, 3.409091, 27.272728, 43},
	{24, 32, {256, 1, 1}, {256, 1, 1}, 1.939394, 15.515152, 24},
	{28, 0, {225, 1, 1}, {128, 1, 1}, 1.704545, 6.818182, 11},
	{28, 64, {32, 1, 1}, {512, 1, 1}, 0.242424, 3.878788, 6},
	{32, 0, {6, 1, 1}, {512, 1, 1}, 0.045455, 0.727273, 1},
	{32, 16, {16, 1, 1}, {32, 16, 1}, 0.121212, 1.939394, 3},
	{32, 400, {16, 1, 1}, {512, 1, 1}, 0.121212, 1.939394, 3},
	{32, 2064, {16, 1, 1}, {32, 16, 1}, 0.121212, 1.939394, 3},
	{32, 4224, {1, 1, 16}, {256, 1, 1}, 0.121212, 0.969697, 2},
	{32, 4224, {29, 1, 16}, {256, 1, 1}, 3.515152, 28.121212, 44},
	{32, 4224, {32, 1, 16}, {256, 1, 1}, 3.878788, 31.030304, 48},
	{38, 0, {1, 1, 1}, {128, 1, 1}, 0.007576, 0.030303, 0},
	{40, 16, {1, 1, 1}, {4, 16, 1}, 0.007576, 0.015152, 0},
	{64, 2304, {450, 1, 1}, {8, 8, 1}, 3.409091, 6.818182, 11},
	{72, 10240, {1, 4, 1}, {128, 1, 1}, 0.030303, 0.121212, 0},
	{90, 6144, {1, 1, 1}, {64, 1, 1}, 0.007576, 0.015152, 0},
	{96, 13824, {2, 2, 1}, {128, 1, 1}, 0.030303, 0.121212, 0},
	{104, 1024, {2, 1, 20}, {64, 1, 1}, 0.30303, 0.606061, 1},
};

static void test_what_torch_profiler_estimated(void **state)
{
	for (size_t i = 0; i < COUNT(kineto); i++) {
		const struct profiled *one = &kineto[i];
		struct gp_record_shape shape = {.registers = one->registers,
						.static_shared_bytes = one->shared};
		struct gp_occupancy found;
		double blocks;

		memcpy(shape.grid, one->grid, sizeof(shape.grid));
		memcpy(shape.block, one->block, sizeof(shape.block));
		assert_true(gp_occupancy_of(&h200, &shape, &found));
		blocks = (double)found.grid_blocks / h200.multiprocessors;
		assert_true(fabs(blocks - one->blocks_per_sm) < 1e-6);
		assert_true(fabs(blocks * found.warps_per_block - one->warps_per_sm) < 1e-5);
		assert_int_equal((int)(found.grid_share * 100 + 0.5), one->achieved_percent);
	}
}

/* 8 blocks of 256 threads on each of 132 SMs at once: 1056. */
static void test_the_grid(void **state)
{
	struct gp_record_shape shape = shape_of(32, 0, 1056, 256);
	struct gp_occupancy found;

	assert_true(gp_occupancy_of(&h200, &shape, &found));
	assert_true(found.waves == 1 && found.tail == 0 && found.sms_used == 1 &&
		    found.grid_share == 1);
	shape.grid[0] = 66;
	assert_true(gp_occupancy_of(&h200, &shape, &found));
	assert_true(found.waves == 0.0625 && found.tail == 0 && found.sms_used == 0.5);
	shape.grid[0] = 1584; /* a wave and a half: a quarter of two waves is empty */
	assert_true(gp_occupancy_of(&h200, &shape, &found));
	assert_true(found.waves == 1.5 && fabs(found.tail - 0.25) < 1e-12);
	shape.cluster[0] = 16;
	shape.cluster[1] = shape.cluster[2] = 1;
	shape.block[0] = 1024; /* 264 at once, of which 256 are whole clusters */
	shape.grid[0] = 512;
	assert_true(gp_occupancy_of(&h200, &shape, &found));
	assert_true(found.waves == 2);
}

/* Nothing is made up, and nothing is divided by nothing. */
static void test_what_is_not_known(void **state)
{
	struct gp_record_device device = h200;
	struct gp_record_shape shape = shape_of(32, 0, 1, 256);
	struct gp_occupancy found;

	device.compute_major = 99;
	assert_false(gp_occupancy_of(&device, &shape, &found));
	device = (struct gp_record_device){.compute_major = 9};
	assert_false(gp_occupancy_of(&device, &shape, &found));
	shape = shape_of(65535, UINT32_MAX, 1, 256);
	assert_false(gp_occupancy_of(&h200, &shape, &found));
	shape = shape_of(32, 0, 1, 2048);
	assert_false(gp_occupancy_of(&h200, &shape, &found));
	shape = (struct gp_record_shape){.registers = 32};
	assert_false(gp_occupancy_of(&h200, &shape, &found));
	memset(&shape, 0xff, sizeof(shape));
	assert_false(gp_occupancy_of(&h200, &shape, &found));
	shape = shape_of(32, 0, 1, 256);
	memset(shape.grid, 0xff, sizeof(shape.grid));
	assert_true(gp_occupancy_of(&h200, &shape, &found));
	memset(&device, 0xff, sizeof(device));
	device.compute_major = 9;
	assert_false(gp_occupancy_of(&device, &shape, &found));
}

static double cell(const struct gp_table *sheet, size_t row, const char *title)
{
	struct gp_value value = gp_table_row(sheet, row)[gp_table_find_column(sheet->head, title)];

	return value.kind == GP_VALUE_WHOLE ? (double)value.whole : value.real;
}

/*
 * Two grids of one kernel are a row, another block is one of its own; what has no device has none.
 */
static void test_the_table(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;
	uint32_t name = build_name(&b, "k"), shapes[4];

	build_device(&b, 0, "H200");
	shapes[0] = build_shape(&b, 528, 256);
	shapes[1] = build_shape(&b, 1584, 256);
	shapes[2] = build_shape(&b, 1, 32);
	shapes[3] = build_shape(&b, 1, 4096);
	for (uint32_t i = 0; i < 4; i++) {
		struct gp_op *op = build_op(&b, GP_OP_KERNEL, 7, 100 * i, 100 * i + 50 - i, i);

		op->name = name;
		op->shape = shapes[i];
	}
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_occupancy, &scope, &sheet), 0);
	assert_int_equal(gp_table_rows(&sheet), 2);
	assert_true(cell(&sheet, 0, "Count") == 2 && cell(&sheet, 0, "Occupancy") == 100);
	assert_true(cell(&sheet, 0, "Waves") == 1 && cell(&sheet, 0, "Warps/SM") == 64);
	assert_true(cell(&sheet, 0, "Tail") == 12.5 && cell(&sheet, 0, "Grid occ.") == 75);
	assert_true(cell(&sheet, 1, "Blocks/SM") == 32 && cell(&sheet, 1, "Occupancy") == 50);
	gp_table_close(&sheet);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/* 240 KB in 200 ns at 2.4 TB/s would take 100; the other copy crosses a link. */
static void test_copies_beside_the_peak(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;

	build_device(&b, 0, "H200");
	b.model->devices[0].memory_bandwidth_kbytes_per_s = 4800000000;
	for (uint32_t i = 0; i < 2; i++) {
		struct gp_op *op = build_op(&b, GP_OP_COPY, 7, 1000 * i, 1000 * i + 200, i);

		op->bytes = 240000 - i;
		op->copy_kind = i == 0 ? 8 : 1;
	}
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_copy_size, &scope, &sheet), 0);
	assert_true(cell(&sheet, 0, "Peak %") == 50);
	assert_int_equal(gp_table_row(&sheet, 1)[gp_table_find_column(sheet.head, "Peak %")].kind,
			 GP_VALUE_NONE);
	gp_table_close(&sheet);
	gp_scope_close(&scope);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_and_what_limits_them),
		cmocka_unit_test(test_what_cuda_says),
		cmocka_unit_test(test_what_torch_profiler_estimated),
		cmocka_unit_test(test_the_grid),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_the_table),
		cmocka_unit_test(test_copies_beside_the_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
