/* call_stacks: which calls get a stack by --stacks, at their begin or end, and which may block. */
#include "tests/unit.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cupti.h>

#include "inject/call_stacks.h"
#include "inject/options.h"

#define RUNTIME(name) false, CUPTI_RUNTIME_TRACE_CBID_##name
#define DRIVER(name)  true, CUPTI_DRIVER_TRACE_CBID_##name

enum {
	ENTER = GP_STACK_AT_ENTER,
	EXIT = GP_STACK_AT_EXIT,
	WAITS = GP_CALL_WAITS,
	SOME = GP_STACK_SAMPLED
};

/* call_stacks: the calls that each list of words selects. */
static const struct {
	bool driver;
	uint32_t cbid;
	uint8_t none, launch, sample, sync, alloc, sync_and_alloc, all;
} calls[] = {
	{RUNTIME(cudaLaunchKernel_v7000), 0, EXIT, EXIT | SOME, 0, 0, 0, EXIT},
	{DRIVER(cuLaunchKernel), 0, EXIT, EXIT | SOME, 0, 0, 0, EXIT},
	{RUNTIME(cudaGraphLaunch_v10000), 0, EXIT, EXIT | SOME, 0, 0, 0, EXIT},
	{RUNTIME(cudaMemcpyAsync_v3020), 0, EXIT, EXIT | SOME, 0, 0, 0, EXIT},
	{RUNTIME(cudaMemcpy_v3020), WAITS, ENTER | WAITS, ENTER | WAITS | SOME, WAITS, WAITS, WAITS,
	 ENTER | WAITS},
	{RUNTIME(cudaDeviceSynchronize_v3020), WAITS, WAITS, ENTER | WAITS | SOME, ENTER | WAITS,
	 WAITS, ENTER | WAITS, ENTER | WAITS},
	{RUNTIME(cudaMalloc_v3020), WAITS, WAITS, WAITS, WAITS, ENTER | WAITS, ENTER | WAITS,
	 ENTER | WAITS},
	{RUNTIME(cudaFree_v3020), WAITS, WAITS, WAITS, WAITS, ENTER | WAITS, ENTER | WAITS,
	 ENTER | WAITS},
	{RUNTIME(cudaMallocAsync_v11020), 0, 0, 0, 0, EXIT, EXIT, EXIT},
	{RUNTIME(cudaGetDevice_v3020), 0, 0, 0, 0, 0, 0, EXIT}, /* not in the table */
};

/* Options are read once per process, so each list has its own process. */
static int count_wrong(const char *list, size_t offset)
{
	char variable[64], *const environment[] = {variable, NULL};
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		int wrong = 0;

		snprintf(variable, sizeof(variable), "GPUPROF_STACKS=%s", list);
		gp_options_read(environment);
		gp_api_table_init();
		gp_call_stacks_init();
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			wrong += gp_call_stacks_of(calls[i].driver, calls[i].cbid) !=
				 *((const uint8_t *)&calls[i] + offset);
		wrong += gp_call_stacks_of(false, GP_API_CBID_LIMIT) != 0;
		wrong += gp_call_stacks_of(true, UINT32_MAX) != 0;
		_exit(wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define OF(member) offsetof(__typeof__(calls[0]), member)

static void each_list_chooses_its_calls(void **state)
{
	assert_int_equal(count_wrong("none", OF(none)), 0);
	assert_int_equal(count_wrong("launch", OF(launch)), 0);
	assert_int_equal(count_wrong("sample", OF(sample)), 0);
	assert_int_equal(count_wrong("launch,sample", OF(launch)), 0);
	assert_int_equal(count_wrong("sync", OF(sync)), 0);
	assert_int_equal(count_wrong("alloc", OF(alloc)), 0);
	assert_int_equal(count_wrong("sync,alloc", OF(sync_and_alloc)), 0);
	assert_int_equal(count_wrong("all", OF(all)), 0);
	assert_int_equal(count_wrong("all,sample", OF(all)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_list_chooses_its_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
