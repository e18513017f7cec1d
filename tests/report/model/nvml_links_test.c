/*
 * link_facts: the links of a GPU as NVML tells them, and nothing of a library that lacks a function
 * or fails.
 */
#include <dlfcn.h>

static void *find_library(const char *name, int flags);
static void *find_function(void *library, const char *name);

#define dlopen             find_library
#define dlsym              find_function
#define gp_nvml_open       tested_nvml_open
#define gp_nvml_write_uuid tested_nvml_write_uuid
#define gp_link_facts      tested_link_facts
#include "report/model/nvml.c"
#include "report/model/nvml_links.c"
#include "tests/unit.h"
#undef dlopen
#undef dlsym
#undef gp_nvml_open
#undef gp_nvml_write_uuid
#undef gp_link_facts

/* ---- a library of our own: what it says, and where it fails ---- */

static struct {
	bool is_there;
	const char *failing; /* the function that returns an error */
	const char *missing;
	unsigned int generation, lanes, speed;
	int value_type, value_result;
	int states[MOST_NVLINKS], remotes[MOST_NVLINKS];
	char uuid[64];
} library;

static int result_of(const char *function)
{
	return library.failing && strcmp(library.failing, function) == 0 ? 999 : 0;
}

static int nvmlInit_v2(void)
{
	return result_of("nvmlInit_v2");
}

static int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	snprintf(library.uuid, sizeof(library.uuid), "%s", uuid);
	*device = &library;
	return result_of("nvmlDeviceGetHandleByUUID");
}

static int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned int *generation)
{
	assert_ptr_equal(device, &library);
	*generation = library.generation;
	return result_of("nvmlDeviceGetMaxPcieLinkGeneration");
}

static int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned int *lanes)
{
	assert_ptr_equal(device, &library);
	*lanes = library.lanes;
	return result_of("nvmlDeviceGetMaxPcieLinkWidth");
}

static int nvmlDeviceGetNvLinkState(void *device, unsigned int link, int *state)
{
	assert_ptr_equal(device, &library);
	*state = library.states[link];
	return result_of("nvmlDeviceGetNvLinkState");
}

static int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned int link, int *type)
{
	assert_ptr_equal(device, &library);
	*type = library.remotes[link];
	return result_of("nvmlDeviceGetNvLinkRemoteDeviceType");
}

static int nvmlDeviceGetFieldValues(void *device, int count, struct gp_nvml_field *values)
{
	assert_ptr_equal(device, &library);
	assert_int_equal(count, 1);
	assert_int_equal(values->field, FIELD_LINK_SPEED);
	values->type = library.value_type;
	values->result = library.value_result;
	values->value.whole = library.speed;
	return result_of("nvmlDeviceGetFieldValues");
}

static void *find_library(const char *name, int flags)
{
	(void)flags;
	assert_string_equal(name, "libnvidia-ml.so.1");
	return library.is_there ? &library : NULL;
}

#define FUNCTIONS(X)                                                                               \
	X(nvmlInit_v2)                                                                             \
	X(nvmlDeviceGetHandleByUUID)                                                               \
	X(nvmlDeviceGetMaxPcieLinkGeneration)                                                      \
	X(nvmlDeviceGetMaxPcieLinkWidth)                                                           \
	X(nvmlDeviceGetNvLinkState)                                                                \
	X(nvmlDeviceGetNvLinkRemoteDeviceType)                                                     \
	X(nvmlDeviceGetFieldValues)

static void *find_function(void *handle, const char *name)
{
	assert_ptr_equal(handle, &library);
	if (library.missing && strcmp(library.missing, name) == 0)
		return NULL;
#define X(function)                                                                                \
	if (strcmp(name, #function) == 0)                                                          \
		return (void *)(uintptr_t)function;
	FUNCTIONS(X)
#undef X
	fail_msg("%s is no function of it", name);
	return NULL;
}

static const uint8_t uuid[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
				 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

/* A GPU with PCIe 5.0 x16 and three NVLinks, all to switches. */
static int begin(void **state)
{
	memset(&nvml, 0, sizeof(nvml));
	memset(&library, 0, sizeof(library));
	library.is_there = true;
	library.generation = 5;
	library.lanes = 16;
	library.speed = 26562;
	library.value_type = GP_NVML_IS_UNSIGNED;
	for (unsigned int i = 2; i <= 16; i += 7) {
		library.states[i] = ENABLED;
		library.remotes[i] = REMOTE_IS_SWITCH;
	}
	return 0;
}

static size_t ask(struct gp_record_link links[GP_LINKS_OF_DEVICE])
{
	return tested_link_facts(uuid, links);
}

static void both_links_are_told(void **state)
{
	struct gp_record_link links[GP_LINKS_OF_DEVICE];

	for (int again = 0; again < 2; again++) {
		assert_int_equal(ask(links), 2);
		assert_string_equal(library.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
		assert_int_equal(links[0].kind, GP_RECORD_LINK);
		assert_int_equal(links[0].link_kind, GP_LINK_PCIE);
		assert_int_equal(links[0].generation, 5);
		assert_int_equal(links[0].lanes, 16);
		assert_int_equal(links[1].kind, GP_RECORD_LINK);
		assert_int_equal(links[1].link_kind, GP_LINK_NVLINK);
		assert_int_equal(links[1].lanes, 3);
		assert_int_equal(links[1].lane_mbytes_per_s, 26562);
	}
}

/* The number of links where one function fails. */
static size_t count_without(const char *function)
{
	struct gp_record_link links[GP_LINKS_OF_DEVICE];

	begin(NULL);
	library.failing = function;
	return ask(links);
}

static void what_fails_is_left_out(void **state)
{
	assert_int_equal(count_without("nvmlInit_v2"), 0);
	assert_int_equal(count_without("nvmlDeviceGetHandleByUUID"), 0);
	assert_int_equal(count_without("nvmlDeviceGetMaxPcieLinkGeneration"), 1);
	assert_int_equal(count_without("nvmlDeviceGetMaxPcieLinkWidth"), 1);
	assert_int_equal(count_without("nvmlDeviceGetNvLinkState"), 1);
	assert_int_equal(count_without("nvmlDeviceGetNvLinkRemoteDeviceType"), 1);
	assert_int_equal(count_without("nvmlDeviceGetFieldValues"), 1);
}

static void without_a_library_or_one_of_its_functions_nothing_is_told(void **state)
{
	struct gp_record_link links[GP_LINKS_OF_DEVICE];

	library.is_there = false;
	assert_int_equal(ask(links), 0);
#define X(function)                                                                                \
	begin(NULL);                                                                               \
	library.missing = #function;                                                               \
	assert_int_equal(ask(links), 0);
	FUNCTIONS(X)
#undef X
}

static void nvlink_is_told_only_of_switches_and_with_its_speed(void **state)
{
	struct gp_record_link links[GP_LINKS_OF_DEVICE];

	library.remotes[9] = 1; /* another GPU */
	assert_int_equal(ask(links), 1);
	assert_int_equal(links[0].link_kind, GP_LINK_PCIE);
	begin(NULL);
	library.speed = 0;
	assert_int_equal(ask(links), 1);
	begin(NULL);
	library.value_type = 0;
	assert_int_equal(ask(links), 1);
	begin(NULL);
	library.value_result = 3;
	assert_int_equal(ask(links), 1);
	begin(NULL);
	library.generation = 0;
	assert_int_equal(ask(links), 1);
	assert_int_equal(links[0].link_kind, GP_LINK_NVLINK);
	begin(NULL);
	library.lanes = 0;
	assert_int_equal(ask(links), 1);
	memset(library.states, 0, sizeof(library.states));
	assert_int_equal(ask(links), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_links_are_told, begin),
		cmocka_unit_test(what_fails_is_left_out),
		cmocka_unit_test_setup(without_a_library_or_one_of_its_functions_nothing_is_told,
				       begin),
		cmocka_unit_test_setup(nvlink_is_told_only_of_switches_and_with_its_speed, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
