/*
 * request: only who knows the token and names us as the host comes in, and only to read; numbers
 * are whole and within bounds.
 */
#include <string.h>
#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>

#include "report/serve/request.h"

static struct gp_door door_at(uint16_t port)
{
	struct gp_door door = {.port = port};

	assert_int_equal(gp_door_lock(&door, true), 0);
	return door;
}

static struct gp_request ask(const char *method, const char *host, const char *token)
{
	struct gp_request request = {.method = method, .path = "/", .host = host};

	if (token)
		assert_true(gp_request_add(&request, "token", token));
	return request;
}

static unsigned refusal(struct gp_door *door, const char *method, const char *host,
			const char *token)
{
	struct gp_request request = ask(method, host, token);

	return gp_door_refuses(door, &request);
}

static void test_tokens_are_long_and_differ(void **state)
{
	struct gp_door one = door_at(1), other = door_at(1);

	assert_int_equal(strspn(one.token, "0123456789abcdef"), GP_TOKEN_BYTES - 1);
	assert_int_equal(strspn(one.once, "0123456789abcdef"), GP_TOKEN_BYTES - 1);
	assert_string_not_equal(one.token, other.token);
	assert_string_not_equal(one.token, one.once);
}

static void test_who_has_the_token_may_read(void **state)
{
	struct gp_door door = door_at(8123);

	assert_int_equal(refusal(&door, "GET", "127.0.0.1:8123", door.token), 0);
	assert_int_equal(refusal(&door, "HEAD", "127.0.0.1:8123", door.token), 0);
}

static void test_other_methods_are_not_allowed(void **state)
{
	static const char *const methods[] = {"POST", "PUT",   "DELETE", "OPTIONS",
					      "get",  "TRACE", "GETS",   ""};
	struct gp_door door = door_at(8123);

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		assert_int_equal(refusal(&door, methods[i], "127.0.0.1:8123", door.token), 405);
	assert_int_equal(refusal(&door, "POST", "127.0.0.1:8123", "wrong"), 403);
}

static void test_wrong_tokens_are_refused(void **state)
{
	struct gp_door door = door_at(8123);
	char wrong[GP_TOKEN_BYTES + 1];

	assert_int_equal(refusal(&door, "GET", "127.0.0.1:8123", NULL), 403);
	assert_int_equal(refusal(&door, "GET", "127.0.0.1:8123", ""), 403);
	for (size_t i = 0; i < GP_TOKEN_BYTES - 1; i++) {
		memcpy(wrong, door.token, GP_TOKEN_BYTES);
		wrong[i] ^= 1;
		assert_int_equal(refusal(&door, "GET", "127.0.0.1:8123", wrong), 403);
	}
	snprintf(wrong, sizeof(wrong), "%s0", door.token);
	assert_int_equal(refusal(&door, "GET", "127.0.0.1:8123", wrong), 403);
	wrong[GP_TOKEN_BYTES - 2] = '\0';
	assert_int_equal(refusal(&door, "GET", "127.0.0.1:8123", wrong), 403);
}

static void test_other_hosts_are_refused(void **state)
{
	static const char *const hosts[] = {NULL,
					    "",
					    "evil.example:8123",
					    "127.0.0.1",
					    "localhost",
					    "localhost:8123",
					    "127.0.0.1:812",
					    "127.0.0.1:81230",
					    "127.0.0.1:8123.evil.example",
					    "localhost.evil.example:8123",
					    "evil.example@127.0.0.1:8123",
					    " 127.0.0.1:8123",
					    "[::1]:8123",
					    "0.0.0.0:8123",
					    "127.0.0.1:08123"};
	struct gp_door door = door_at(8123);

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_int_equal(refusal(&door, "GET", hosts[i], door.token), 403);
}

static void test_the_port_of_http_need_not_be_named(void **state)
{
	struct gp_door door = door_at(80);

	assert_int_equal(refusal(&door, "GET", "127.0.0.1", door.token), 0);
	assert_int_equal(refusal(&door, "GET", "127.0.0.1:80", door.token), 0);
}

static unsigned ask_as(struct gp_door *door, const char *host, const char *once, bool is_own)
{
	struct gp_request request = {.method = "GET", .path = "/", .host = host, .is_own = is_own};

	assert_true(gp_request_add(&request, "once", once));
	return gp_door_refuses(door, &request);
}

static unsigned ask_once(struct gp_door *door, const char *host, const char *once)
{
	return ask_as(door, host, once, true);
}

static void test_the_way_in_for_once_is_good_once(void **state)
{
	struct gp_door door = door_at(8123), without = {.port = 8123};
	char once[GP_TOKEN_BYTES];

	memcpy(once, door.once, sizeof(once));
	assert_int_equal(ask_once(&door, "evil.example:8123", once), 403);
	assert_int_equal(ask_once(&door, "127.0.0.1:8123", door.token), 403);
	assert_int_equal(ask_as(&door, "127.0.0.1:8123", once, false),
			 403); /* read in the list of processes */
	assert_int_equal(ask_once(&door, "127.0.0.1:8123", once), 303);
	assert_int_equal(ask_once(&door, "127.0.0.1:8123", once), 403);
	assert_int_equal(ask_once(&door, "127.0.0.1:8123", ""), 403);
	assert_int_equal(gp_door_lock(&without, false), 0);
	assert_int_equal(ask_once(&without, "127.0.0.1:8123", ""), 403);
}

static void test_there_is_room_for_so_many_arguments(void **state)
{
	struct gp_request request = {.method = "GET"};

	for (size_t i = 0; i < GP_REQUEST_ARGUMENTS; i++)
		assert_true(gp_request_add(&request, i == 3 ? "three" : "other", "value"));
	assert_false(request.has_more);
	assert_string_equal(gp_request_value(&request, "three"), "value");
	assert_null(gp_request_value(&request, "four"));
	assert_false(gp_request_add(&request, "token", "x"));
	assert_true(request.has_more);
	assert_null(gp_request_value(&request, "token"));
}

static int number(const char *text, int64_t *value)
{
	struct gp_request request = {.method = "GET"};
	char message[64] = "";
	int result;

	gp_request_add(&request, "from", text);
	result = gp_request_number(&request, "from", -100, 100, value, message, sizeof(message));
	assert_int_equal(result < 0, *message != '\0');
	return result;
}

static void test_numbers_are_whole_and_within_bounds(void **state)
{
	static const char *const wrong[] = {"",    "-",   "1.5",  "1e3",
					    " 1",  "1 ",  "0x1",  "+1",
					    "--1", "101", "-101", "99999999999999999999",
					    "1;2", "nan"};
	struct gp_request none = {.method = "GET"};
	int64_t value = 7;

	assert_int_equal(gp_request_number(&none, "from", 0, 1, &value, NULL, 0), 0);
	assert_int_equal(value, 7);
	assert_int_equal(number("100", &value), 0);
	assert_int_equal(value, 100);
	assert_int_equal(number("-100", &value), 0);
	assert_int_equal(value, -100);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(number(wrong[i], &value), -EINVAL);
	assert_int_equal(value, -100);
}

static int time_of(const char *text, int64_t *value)
{
	struct gp_request request = {.method = "GET"};
	char message[128] = "";
	int result;

	gp_request_add(&request, "from", text);
	result = gp_request_time(&request, "from", -2000000000, 2000000000, value, message,
				 sizeof(message));
	assert_int_equal(result < 0, strstr(message, "from needs a time") != NULL);
	return result;
}

static void test_times_are_ns_or_have_a_unit(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} right[] = {{"5000", 5000},         {"-5", -5},     {"100ms", 100000000},
		     {"-1.5s", -1500000000}, {"0.3us", 300}, {"7ns", 7}};
	static const char *const wrong[] = {"",
					    "s",
					    "1.5",
					    "1e3",
					    " 1s",
					    "1 s",
					    "0x1s",
					    "+1s",
					    "nan",
					    "infs",
					    "3s",
					    "-3s",
					    "--1s",
					    "1.2.3s",
					    "1m",
					    "1sec",
					    "99999999999999999999s"};
	int64_t value = 0;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(time_of(right[i].text, &value), 0);
		assert_int_equal(value, right[i].ns);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(time_of(wrong[i], &value), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens_are_long_and_differ),
		cmocka_unit_test(test_who_has_the_token_may_read),
		cmocka_unit_test(test_other_methods_are_not_allowed),
		cmocka_unit_test(test_wrong_tokens_are_refused),
		cmocka_unit_test(test_other_hosts_are_refused),
		cmocka_unit_test(test_the_port_of_http_need_not_be_named),
		cmocka_unit_test(test_the_way_in_for_once_is_good_once),
		cmocka_unit_test(test_there_is_room_for_so_many_arguments),
		cmocka_unit_test(test_numbers_are_whole_and_within_bounds),
		cmocka_unit_test(test_times_are_ns_or_have_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
