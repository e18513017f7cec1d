#include "inject/call_stacks.h"

#include <errno.h>
#include <string.h>

#include "gpuprof/record.h"
#include "inject/options.h"
#include "inject/log.h"
#include "stacks/stack.h"

/* The word of --stacks for each class of calls; the other classes are in "all" only. */
static const char *const words[GP_API_CLASSES] = {
	[GP_API_LAUNCH] = "launch", [GP_API_GRAPH_LAUNCH] = "launch", [GP_API_COPY] = "launch",
	[GP_API_MEMSET] = "launch", [GP_API_HOST] = "launch",         [GP_API_SYNC] = "sync",
	[GP_API_ALLOC] = "alloc",   [GP_API_FREE] = "alloc",
};

uint8_t gp_call_stacks_when[2][GP_API_CBID_LIMIT];

static bool returns_at_once(const struct gp_api_entry *entry)
{
	return entry->class == GP_API_LAUNCH || entry->class == GP_API_GRAPH_LAUNCH ||
	       entry->class == GP_API_HOST || strstr(gp_api_cupti_name(entry), "Async") != NULL;
}

/* 0: not chosen by the list. */
static uint8_t chosen(const char *list, const struct gp_api_entry *entry)
{
	const char *word = words[entry->class];
	uint8_t when = returns_at_once(entry) ? GP_STACK_AT_EXIT : GP_STACK_AT_ENTER;

	if (gp_option_list_has(list, "all") || (word != NULL && gp_option_list_has(list, word)))
		return when;
	return word != NULL && strcmp(word, "alloc") != 0 && gp_option_list_has(list, "sample") &&
			       !gp_option_list_has(list, "launch")
		       ? when | GP_STACK_SAMPLED
		       : 0;
}

static void choose(const char *list)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	memset(gp_call_stacks_when, gp_option_list_has(list, "all") ? GP_STACK_AT_EXIT : 0,
	       sizeof(gp_call_stacks_when));
	for (uint32_t i = 0; i < count; i++)
		gp_call_stacks_when[GP_API_IS_DRIVER(entries[i].api)][GP_API_CBID(entries[i].api)] =
			chosen(list, &entries[i]);
}

/*
 * Copies, allocations and similar calls wait for the device or for each other, unless they are
 * asynchronous.
 */
static void mark_waiting_calls(void)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (uint32_t i = 0; i < count; i++)
		if (words[entries[i].class] != NULL && !returns_at_once(&entries[i]))
			gp_call_stacks_when[GP_API_IS_DRIVER(entries[i].api)]
					   [GP_API_CBID(entries[i].api)] |= GP_CALL_WAITS;
}

static void start_stacks(void)
{
	const char *list = gp_option_text(GP_OPTION_ID_STACKS);
	int error;

	if (strcmp(list, "none") == 0)
		return;
	error = gp_stack_start();
	if (error == 0)
		choose(list);
	else if (error == -ENOTSUP)
		gp_log("no call stacks are recorded: gpuprof captures them on x86-64 and aarch64 only");
	else if (error == -ENOMEM)
		gp_log("no call stacks are recorded: their tables need up to 60 MiB of address space, which a limit forbids; raise it with ulimit -v or --max-memory");
}

void gp_call_stacks_init(void)
{
	start_stacks();
	mark_waiting_calls();
}
