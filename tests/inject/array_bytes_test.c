/* array_bytes: sizes by the way that each format stores its texels. */

#include "inject/array_bytes.h"
#include "tests/unit.h"

static uint64_t driver(CUarray_format format, uint32_t channels, size_t width, size_t height)
{
	struct gp_array_extent extent = {width, height, 0, 1, 0};

	return gp_array_bytes_driver(format, channels, &extent);
}

static uint64_t runtime(enum cudaChannelFormatKind kind, int bits, int channels, size_t width,
			size_t height)
{
	struct gp_array_extent extent = {width, height, 0, 1, 0};
	struct cudaChannelFormatDesc format = {.x = bits,
					       .y = channels > 1 ? bits : 0,
					       .z = channels > 2 ? bits : 0,
					       .w = channels > 3 ? bits : 0,
					       .f = kind};

	return gp_array_bytes_runtime(&format, &extent);
}

static void one_size_for_each_channel(void **state)
{
	assert_int_equal(driver(CU_AD_FORMAT_UNSIGNED_INT8, 1, 64, 2), 128);
	assert_int_equal(driver(CU_AD_FORMAT_HALF, 2, 64, 0), 256);
	assert_int_equal(driver(CU_AD_FORMAT_FLOAT, 4, 10, 10), 1600);
	assert_int_equal(driver(CU_AD_FORMAT_UNORM_INT8X4, 4, 10, 10), 400);
	assert_int_equal(driver(CU_AD_FORMAT_UNORM_INT16X2, 2, 10, 10), 400);
	assert_int_equal(driver(CU_AD_FORMAT_SNORM_INT16X4, 4, 10, 10), 800);
	assert_int_equal(runtime(cudaChannelFormatKindUnsignedNormalized16X4, 16, 4, 10, 10), 800);
	assert_int_equal(runtime(cudaChannelFormatKindFloat, 32, 1, 10, 0), 40);
}

static void blocks_of_sixteen_texels(void **state)
{
	assert_int_equal(driver(CU_AD_FORMAT_BC1_UNORM, 4, 64, 64), 16 * 16 * 8);
	assert_int_equal(driver(CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 64, 64), 16 * 16 * 16);
	assert_int_equal(driver(CU_AD_FORMAT_BC4_SNORM, 1, 5, 5), 2 * 2 * 8);
	assert_int_equal(driver(CU_AD_FORMAT_BC6H_UF16, 3, 1, 1), 16);
	assert_int_equal(runtime(cudaChannelFormatKindUnsignedBlockCompressed1, 8, 4, 64, 64),
			 16 * 16 * 8);
	assert_int_equal(runtime(cudaChannelFormatKindUnsignedBlockCompressed7SRGB, 8, 4, 5, 1),
			 2 * 16);
}

static void planes_of_video(void **state)
{
	assert_int_equal(driver(CU_AD_FORMAT_NV12, 3, 64, 32), 64 * 32 * 3 / 2);
	assert_int_equal(runtime(cudaChannelFormatKindNV12, 8, 3, 64, 32), 64 * 32 * 3 / 2);
	assert_int_equal(driver((CUarray_format)0x9f, 3, 64, 32), 64 * 32 * 3); /* P010 */
	assert_int_equal(driver((CUarray_format)0xb1, 4, 64, 32), 64 * 32 * 8); /* Y416 */
	assert_int_equal(driver((CUarray_format)0x50, 4, 64, 32), 64 * 32 * 4); /* 10, 10, 10, 2 */
}

static void levels_halve_down_to_one_block(void **state)
{
	struct gp_array_extent plain = {8, 4, 2, 4, 0}, blocks = {8, 8, 0, 4, 0};

	assert_int_equal(gp_array_bytes_driver(CU_AD_FORMAT_FLOAT, 1, &plain),
			 4 * (8 * 4 * 2 + 4 * 2 * 1 + 2 * 1 * 1 + 1));
	assert_int_equal(gp_array_bytes_driver(CU_AD_FORMAT_BC1_UNORM, 4, &blocks),
			 8 * (4 + 1 + 1 + 1));
}

static void each_level_has_all_layers(void **state)
{
	struct gp_array_extent layers = {8, 4, 3, 4, CUDA_ARRAY3D_LAYERED};
	struct gp_array_extent faces = {4, 4, 6, 3, CUDA_ARRAY3D_CUBEMAP};

	assert_int_equal(gp_array_bytes_driver(CU_AD_FORMAT_FLOAT, 1, &layers),
			 4 * 3 * (8 * 4 + 4 * 2 + 2 * 1 + 1));
	assert_int_equal(gp_array_bytes_driver(CU_AD_FORMAT_FLOAT, 1, &faces),
			 4 * 6 * (16 + 4 + 1));
}

static void memory_that_the_program_maps_is_not_the_arrays(void **state)
{
	struct gp_array_extent sparse = {64, 64, 0, 1, CUDA_ARRAY3D_SPARSE};
	struct gp_array_extent deferred = {64, 64, 0, 1, CUDA_ARRAY3D_DEFERRED_MAPPING};

	assert_int_equal(gp_array_bytes_driver(CU_AD_FORMAT_FLOAT, 1, &sparse), 0);
	assert_int_equal(gp_array_bytes_driver(CU_AD_FORMAT_FLOAT, 1, &deferred), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_size_for_each_channel),
		cmocka_unit_test(blocks_of_sixteen_texels),
		cmocka_unit_test(planes_of_video),
		cmocka_unit_test(levels_halve_down_to_one_block),
		cmocka_unit_test(each_level_has_all_layers),
		cmocka_unit_test(memory_that_the_program_maps_is_not_the_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
