#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "report/base/text/format.h"

static void times_have_four_digits_and_the_right_unit(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0ns"},          {999, "999ns"},           {1000, "1.000us"},
		{1234, "1.234us"},   {12345, "12.35us"},       {99994, "99.99us"},
		{99996, "100.0us"},  {123456, "123.5us"},      {999949, "999.9us"},
		{999951, "1.000ms"}, {353084000000, "353.1s"}, {86400000000000, "86400.0s"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(gp_format_ns(cases[i].ns).text, cases[i].text);
}

static void means_keep_a_fraction_of_a_ns(void **state)
{
	assert_string_equal(gp_format_ns_mean(0.25).text, "0.2ns");
	assert_string_equal(gp_format_ns_mean(999.94).text, "999.9ns");
	assert_string_equal(gp_format_ns_mean(999.96).text, "1.000us");
	assert_string_equal(gp_format_ns_mean(1e9).text, "1.000s");
}

static void estimates_may_be_any_double(void **state)
{
	assert_string_equal(gp_format_ns_about(1234.5).text, "1.234us");
	assert_string_equal(gp_format_ns_about(-1).text, "0ns");
	assert_string_equal(gp_format_ns_about(NAN).text, "0ns");
	assert_string_equal(gp_format_ns_about(1e300).text, gp_format_ns(INT64_MAX).text);
}

static void sizes_are_binary(void **state)
{
	assert_string_equal(gp_format_bytes(0).text, "0B");
	assert_string_equal(gp_format_bytes(1023).text, "1023B");
	assert_string_equal(gp_format_bytes(1024).text, "1.000KiB");
	assert_string_equal(gp_format_bytes(1000 * 1024).text, "1000.0KiB");
	assert_string_equal(gp_format_bytes(1024 * 1024 - 1).text, "1.000MiB");
	assert_string_equal(gp_format_bytes(150109880320).text, "139.8GiB");
	assert_string_equal(gp_format_bytes(UINT64_MAX).text, "16777216.0TiB");
}

static void counts_are_grouped(void **state)
{
	assert_string_equal(gp_format_count(0).text, "0");
	assert_string_equal(gp_format_count(999).text, "999");
	assert_string_equal(gp_format_count(1000).text, "1,000");
	assert_string_equal(gp_format_count(1234567).text, "1,234,567");
	assert_string_equal(gp_format_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void shares_never_round_something_to_nothing(void **state)
{
	assert_string_equal(gp_format_percent(1, 3).text, "33.3");
	assert_string_equal(gp_format_percent(1, 100000).text, "<0.1");
	assert_string_equal(gp_format_percent(99999, 100000).text, ">99.9");
	assert_string_equal(gp_format_percent(5, 5).text, "100.0");
	assert_string_equal(gp_format_percent(6, 5).text, "120.0");
	assert_string_equal(gp_format_percent(0, 5).text, "0.0");
	assert_string_equal(gp_format_percent(5, 0).text, "-");
}

static void changes_keep_their_sign(void **state)
{
	assert_string_equal(gp_format_change(0.04).text, "<0.1");
	assert_string_equal(gp_format_change(-0.04).text, ">-0.1");
	assert_string_equal(gp_format_change(-0.06).text, "-0.1");
	assert_string_equal(gp_format_change(-0.0).text, "0.0");
	assert_string_equal(gp_format_change(12.34).text, "12.3");
	assert_string_equal(gp_format_change(12300).text, "x124");
}

static void rates_need_time(void **state)
{
	assert_string_equal(gp_format_gb_per_s(24000, 1000).text, "24.00");
	assert_string_equal(gp_format_gb_per_s(1, 1000).text, "0.001");
	assert_string_equal(gp_format_gb_per_s(5, 0).text, "-");
}

static void moments_and_clocks(void **state)
{
	assert_string_equal(gp_format_moment(1500000000).text, "+1.500s");
	assert_string_equal(gp_format_moment(-1500).text, "-1.500us");
	assert_string_equal(gp_format_moment(0).text, "+0ns");
	assert_string_equal(gp_format_moment_exactly(327912345).text, "0.327912345s");
	assert_string_equal(gp_format_moment_exactly(UINT64_C(61000000007)).text, "61.000000007s");
	assert_string_equal(gp_format_clock(1790000000123999999).text, "2026-09-21 14:13:20 UTC");
}

static void versions_of_cuda(void **state)
{
	assert_string_equal(gp_format_cuda_version(13000).text, "13.0");
	assert_string_equal(gp_format_cuda_version(11080).text, "11.8");
	assert_string_equal(gp_format_cuda_version(0).text, "?");
	assert_string_equal(gp_format_cupti_version(18).text, "11.8");
	assert_string_equal(gp_format_cupti_version(25).text, "version 25");
	assert_string_equal(gp_format_cupti_version(28).text, "12.9.1");
	assert_string_equal(gp_format_cupti_version(130000).text, "13.0");
	assert_string_equal(gp_format_cupti_version(130001).text, "13.0.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_four_digits_and_the_right_unit),
		cmocka_unit_test(means_keep_a_fraction_of_a_ns),
		cmocka_unit_test(estimates_may_be_any_double),
		cmocka_unit_test(sizes_are_binary),
		cmocka_unit_test(counts_are_grouped),
		cmocka_unit_test(shares_never_round_something_to_nothing),
		cmocka_unit_test(changes_keep_their_sign),
		cmocka_unit_test(rates_need_time),
		cmocka_unit_test(moments_and_clocks),
		cmocka_unit_test(versions_of_cuda),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
