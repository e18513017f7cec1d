/*
 * A library that comes and goes, for tests/stacks/modules_test.c: built twice, with frames of different sizes, so that the same address
 * needs another rule.  When it is loaded and unloaded it calls the function whose address is in the environment.  Built a third time it
 * looks like an interpreter that nobody knows, for tests/stacks/stack_test.c.
 */
#include <stdlib.h>

#ifdef AS_PYTHON
void *PyGILState_GetThisThreadState(void);

const unsigned long Py_Version = 0x030f00f0; /* 3.15.0 */
long _PyRuntime[100];

void *PyGILState_GetThisThreadState(void)
{
	abort();
}
#endif

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
