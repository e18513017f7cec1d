#include "report/finish/nothing.h"

#include <dlfcn.h>

#include "gpuprof/option.h"

#define NO_DRIVER "this machine has no CUDA driver that the loader finds (libcuda.so.1)"

bool gp_nothing_finds_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (driver)
		dlclose(driver);
	return driver != NULL;
}

void gp_nothing_read(struct gp_nothing *nothing, const struct gp_session *session)
{
	bool was_initialized = gp_session_was_told(session, GP_SESSION_DRIVER);

	*nothing = (struct gp_nothing){
		.is_left_out = gp_session_was_told(session, GP_SESSION_LEFT_OUT),
		.is_said = gp_session_was_told(session, GP_SESSION_FAILED),
		.was_initialized = was_initialized,
		.has_driver = was_initialized || gp_nothing_finds_driver(),
	};
}

void gp_nothing_print(const struct gp_nothing *nothing, const char *program)
{
	if (nothing->is_said)
		fputs("gpuprof: nothing was recorded, for the reason in a line above\n", stderr);
	else if (nothing->is_left_out)
		fputs("gpuprof: nothing was recorded: --processes leaves out what used the GPU\n",
		      stderr);
	else if (!nothing->has_driver)
		fputs("gpuprof: nothing was recorded: " NO_DRIVER "; type: gpuprof doctor\n",
		      stderr);
	else if (nothing->was_initialized)
		fprintf(stderr,
			"gpuprof: nothing was recorded: %s initialized CUDA, but made no context and so did nothing on the GPU; if it should have, look what its first CUDA calls return\n",
			program);
	else
		fprintf(stderr, "gpuprof: nothing was recorded: %s did not use the GPU\n", program);
}

void gp_nothing_print_driver(FILE *out)
{
	fputs("gpuprof: " NO_DRIVER ": there are ranges only; type: gpuprof doctor\n", out);
}
