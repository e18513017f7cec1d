#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/model/payload.h"
#include "tests/unit.h"

/* A model of texts alone: schemas 1, 2, ..., and a payload of the first. */
static struct gp_model model_of(struct gp_text *texts, const char *const *schemas, uint32_t count,
				const void *bytes, uint32_t length)
{
	for (uint32_t i = 0; i < count; i++)
		texts[i] = (struct gp_text){GP_STRING_SCHEMA, i + 1, 0,
					    (uint32_t)strlen(schemas[i]), (char *)schemas[i]};
	texts[count] = (struct gp_text){GP_STRING_PAYLOAD, 1, 1, length, (char *)bytes};
	return (struct gp_model){.texts = texts, .text_count = count + 1};
}

static void write_field(void *context, const struct gp_payload_field *field)
{
	char *out = context;
	size_t used = strlen(out), room = 1024 - used;

	if (field->kind == GP_PAYLOAD_NONE)
		snprintf(out + used, room, "%s='%s' ", field->name, field->text);
	else if (field->kind == GP_PAYLOAD_FLOATING)
		snprintf(out + used, room, "%s=%g ", field->name,
			 gp_payload_floating(field->value));
	else
		snprintf(out + used, room, "%s=%lld ", field->name, (long long)field->value);
}

static void expect(const char *const *schemas, uint32_t count, const void *bytes, uint32_t length,
		   const char *expected)
{
	struct gp_text texts[8];
	struct gp_model m = model_of(texts, schemas, count, bytes, length);
	char out[1024] = "";

	gp_payload_decode(&m, count, write_field, out);
	assert_string_equal(out, expected);
}

/* As NCCL describes a collective. */
static void test_members_at_their_offsets(void **state)
{
	const struct {
		uint64_t communicator;
		size_t bytes;
		int32_t operation;
		int32_t rank;
	} payload = {0xabc, 4096, 2, -1};
	const char *const schemas[] = {"1\t24\tReduce\n"
				       "0\t18\t0\t0\tcommunicator\n"
				       "0\t22\t8\t0\tMessage size [bytes]\n"
				       "0\t5\t16\t0\tReduction operation\n"
				       "0\t15\t20\t0\tRank\n"};

	expect(schemas, 1, &payload, sizeof(payload),
	       "communicator=2748 Message size [bytes]=4096 Reduction operation=2 Rank=-1 ");
}

static void test_strings_and_enumerations(void **state)
{
	const struct {
		uint64_t text;
		uint32_t operation, flags;
		uint64_t lost;
		uint8_t other;
	} payload = {9, 2, 5, 10, 77};
	const char *const schemas[] = {
		("1\t0\t\n0\t80\t0\t0\tname\n0\t16777218\t8\t0\top\n"
		 "0\t16777219\t12\t0\tflags\n0\t75\t16\t0\tlost\n0\t16777220\t24\t0\tother\n"),
		"0\t4\tncclRedOp\n0\t0\t0\t0\tSum\n0\t2\t0\t0\tMax\n",
		"0\t4\tflags\n1\t1\t0\t0\tA\n1\t2\t0\t0\tB\n1\t4\t0\t0\tC\n",
		"0\t1\tother\n0\t1\t0\t0\tOne\n",
	};
	struct gp_text texts[6] = {{GP_STRING_RANGE, 9, 0, 5, (char *)"hello"}};
	struct gp_model m = model_of(texts + 1, schemas, 4, &payload, sizeof(payload));
	char out[1024] = "";

	m.texts = texts;
	m.text_count++;
	gp_payload_decode(&m, 5, write_field, out);
	assert_string_equal(out, "name='hello' op='Max' flags='A|C' other=77 ");
}

static void test_numbers_of_each_kind(void **state)
{
	const struct {
		uint8_t a;
		double b;
		int16_t c;
		float d;
	} payload = {7, 2.5, -3, 0.25f};
	const char *const schemas[] = {"1\t0\t\n0\t12\t0\t0\ta\n0\t20\t8\t0\tb\n"
				       "0\t3\t16\t0\tc\n0\t19\t20\t0\td\n"};

	expect(schemas, 1, &payload, sizeof(payload), "a=7 b=2.5 c=-3 d=0.25 ");
}

static void test_arrays_and_texts(void **state)
{
	const struct {
		uint32_t count;
		uint16_t some[3];
		char name[6];
		uint32_t pad;
	} payload = {2, {10, 20, 30}, "nccl", 0};
	const char *const schemas[] = {"2\t0\t\n0\t6\t0\t0\tcount\n48\t4\t4\t0\tsome\n"
				       "16\t4\t4\t3\tall\n32\t1\t10\t0\tname\n"
				       "2\t75\t0\t0\tpointer\n512\t6\t0\t0\thidden\n"};

	expect(schemas, 1, &payload, sizeof(payload),
	       "count=2 some[0]=10 some[1]=20 all[0]=10 all[1]=20 all[2]=30 name='nccl' ");
}

static void test_schemas_within_schemas(void **state)
{
	const uint32_t payload[] = {1, 2, 3};
	const char *const schemas[] = {"1\t12\touter\n0\t16\t0\t0\tx\n0\t16777218\t4\t0\tin\n",
				       "1\t8\tinner\n0\t16\t0\t0\ta\n0\t16\t4\t0\tb\n"};

	expect(schemas, 2, payload, sizeof(payload), "x=1 in.a=2 in.b=3 ");
}

static void test_any_schema_is_survived(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"1",
		"1\t2",
		"3\t8\tunion\n0\t16\t0\t0\tx\n",
		"1\t8\ts\n0\t16\t5\t0\tbeyond\n",
		"1\t8\ts\n0\t16\t18446744073709551615\t0\tfar\n",
		"1\t8\ts\n0\t999\t0\t0\tunknown\n",
		"1\t8\ts\n0\t21\t0\t0\ttoo wide\n",
		"1\t8\ts\n48\t16\t0\t9\tno such length\n",
		"1\t8\ts\n0\t16777217\t0\t0\titself\n0\t16777217\t0\t0\tagain\n",
		"1\t8\ts\nfoo\n",
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		expect(&texts[i], 1, "12345", 5, "");
}

static void test_fields_have_a_limit(void **state)
{
	static const uint8_t bytes[1000];
	const char *const schemas[] = {"1\t0\t\n16\t32\t0\t900\tx\n"};
	struct gp_text texts[8];
	struct gp_model m = model_of(texts, schemas, 1, bytes, sizeof(bytes));
	char out[1024] = "";

	assert_int_equal(gp_payload_decode(&m, 1, write_field, out), GP_PAYLOAD_MOST_FIELDS);
	assert_int_equal(gp_payload_decode(&m, GP_NONE, write_field, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_at_their_offsets),
		cmocka_unit_test(test_numbers_of_each_kind),
		cmocka_unit_test(test_strings_and_enumerations),
		cmocka_unit_test(test_arrays_and_texts),
		cmocka_unit_test(test_schemas_within_schemas),
		cmocka_unit_test(test_any_schema_is_survived),
		cmocka_unit_test(test_fields_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
