/* Messages as the format's description has them. */
#include <string.h>

#include "report/codec/protobuf.h"
#include "tests/unit.h"

static void assert_bytes(struct gp_protobuf *message, const void *bytes, size_t length)
{
	assert_int_equal(message->error, 0);
	assert_int_equal(message->used, length);
	assert_memory_equal(message->bytes, bytes, length);
	gp_protobuf_free(message);
}

static void test_numbers(void **state)
{
	struct gp_protobuf message = {0};

	gp_protobuf_number(&message, 1, 150);
	gp_protobuf_number(&message, 2, 0); /* left out */
	gp_protobuf_number(&message, 16, 1);
	gp_protobuf_number(&message, 3, UINT64_MAX);
	assert_bytes(&message,
		     "\x08\x96\x01"
		     "\x80\x01\x01"
		     "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		     17);
}

static void test_text(void **state)
{
	struct gp_protobuf message = {0};

	gp_protobuf_bytes(&message, 2, "testing", 7);
	gp_protobuf_bytes(&message, 6, "", 0);
	assert_bytes(&message, "\x12\x07testing\x32\0", 11);
}

static void test_messages_and_packed_numbers(void **state)
{
	struct gp_protobuf message = {0}, inner = {0};

	gp_protobuf_number(&inner, 1, 150);
	gp_protobuf_message(&message, 3, &inner);
	gp_protobuf_packed(&inner, 3);
	gp_protobuf_packed(&inner, 270);
	gp_protobuf_packed(&inner, 86942);
	gp_protobuf_message(&message, 6, &inner);
	gp_protobuf_message(&message, 7, &inner); /* nothing is left in it */
	gp_protobuf_free(&inner);
	assert_bytes(&message,
		     "\x1a\x03\x08\x96\x01"
		     "\x32\x06\x03\x8e\x02\x9e\xa7\x05"
		     "\x3a\0",
		     15);
}

static void test_zeros_that_count(void **state)
{
	struct gp_protobuf message = {0};

	gp_protobuf_value(&message, 1, 0);
	gp_protobuf_double(&message, 2, 1.0);
	assert_bytes(&message,
		     "\x08\x00"
		     "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f",
		     11);
}

static void test_text_is_utf8(void **state)
{
	struct gp_protobuf message = {0};

	gp_protobuf_text(&message, 1, "a\xff");
	assert_bytes(&message,
		     "\x0a\x04"
		     "a\xef\xbf\xbd",
		     6);
}

static void test_parts_of_a_message(void **state)
{
	struct gp_protobuf message = {0};

	gp_protobuf_raw(&message, "\x08\x01", 2);
	gp_protobuf_raw(&message, NULL, 0);
	assert_bytes(&message, "\x08\x01", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeros_that_count),
		cmocka_unit_test(test_text_is_utf8),
		cmocka_unit_test(test_parts_of_a_message),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_messages_and_packed_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
