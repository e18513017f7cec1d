/*
 * A library that tests/stacks/modules_test.c loads and unloads.  It is built twice, with frames of
 * different sizes, so that the same address needs another rule.  When loaded and unloaded it calls
 * the function whose address is in the environment.  Two more builds look like a Python
 * interpreter, of an unknown and of a known version, for tests/stacks/stack_test.c.
 */
#include <stdlib.h>

#ifdef AS_PYTHON
#define FIRST_UNKNOWN 0x03100000

void *PyGILState_GetThisThreadState(void);

const unsigned long Py_Version = AS_PYTHON;
long _PyRuntime[100];
int plugin_was_asked;

void *PyGILState_GetThisThreadState(void)
{
	if (AS_PYTHON >= FIRST_UNKNOWN)
		abort();
	plugin_was_asked = 1;
	return NULL;
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
