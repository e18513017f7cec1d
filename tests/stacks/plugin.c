/*
 * A library that comes and goes, for tests/stacks/modules_test.c: built twice, with frames of different sizes, so that the same address
 * needs another rule.  When it is loaded and unloaded it calls the function whose address is in the environment.
 */
#include <stdlib.h>

typedef void hook(void);
typedef int back(void *argument);

int plugin_call(back *function, void *argument);

static void call_hook(void)
{
	const char *text = getenv("PLUGIN_HOOK");

	if (text != NULL)
		((hook *)strtoul(text, NULL, 16))();
}

__attribute__((constructor)) static void load(void)
{
	call_hook();
}

__attribute__((destructor)) static void unload(void)
{
	call_hook();
}

int plugin_call(back *function, void *argument)
{
	volatile char block[FRAME_BYTES];

	block[0] = 1;
	return function(argument) + block[0];
}
