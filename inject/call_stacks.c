#include "inject/call_stacks.h"

#include <errno.h>
#include <string.h>

#include "gpuprof/record.h"
#include "inject/api_table.h"
#include "inject/options.h"
#include "inject/say.h"
#include "stacks/stack.h"

enum when { NEVER, AT_ENTER, AT_EXIT };

/* The word of --stacks that asks for a class of calls; the others are in "all" alone. */
static const char *const words[GP_API_CLASSES] = {
	[GP_API_LAUNCH] = "launch", [GP_API_GRAPH_LAUNCH] = "launch", [GP_API_COPY] = "launch",
	[GP_API_SET] = "launch",    [GP_API_HOST] = "launch",         [GP_API_SYNC] = "sync",
	[GP_API_ALLOC] = "alloc",   [GP_API_FREE] = "alloc",
};

static uint8_t when_taken[2][GP_API_CBID_LIMIT]; /* enum when, by API and number */

static bool returns_at_once(const struct gp_api_entry *entry)
{
	return entry->class == GP_API_LAUNCH || entry->class == GP_API_GRAPH_LAUNCH ||
	       entry->class == GP_API_HOST || strstr(entry->cupti_name, "Async") != NULL;
}

static void choose(const char *list)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);
	bool all = gp_option_list_has(list, "all");

	memset(when_taken, all ? AT_EXIT : NEVER, sizeof(when_taken));
	for (uint32_t i = 0; i < count; i++) {
		const struct gp_api_entry *entry = &entries[i];
		const char *word = words[entry->class];

		if (all || (word != NULL && gp_option_list_has(list, word)))
			when_taken[GP_API_IS_DRIVER(entry->api)][GP_API_CBID(entry->api)] =
				returns_at_once(entry) ? AT_EXIT : AT_ENTER;
	}
}

void gp_call_stacks_init(void)
{
	const char *list = gp_option_text(GP_OPTION_ID_STACKS);
	int error;

	if (strcmp(list, "none") == 0)
		return;
	error = gp_stack_start();
	if (error == 0)
		choose(list);
	else if (error == -ENOTSUP)
		gp_say("no call stacks on this machine: they are for x86-64");
	else if (error == -ENOMEM)
		gp_say("no call stacks: their tables take 60 MiB of addresses, and the process may "
		       "have no more (ulimit -v)");
}

uint32_t gp_call_stacks_at_enter(bool driver, uint32_t cbid)
{
	return cbid < GP_API_CBID_LIMIT && when_taken[driver][cbid] == AT_ENTER ? gp_stack_capture()
										: 0;
}

uint32_t gp_call_stacks_at_exit(bool driver, uint32_t cbid)
{
	return cbid < GP_API_CBID_LIMIT && when_taken[driver][cbid] != NEVER ? gp_stack_capture()
									     : 0;
}
