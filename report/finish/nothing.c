#include "report/finish/nothing.h"

#include <dlfcn.h>

#include "gpuprof/option.h"
#include "gpuprof/shell_word.h"

#define NO_DRIVER "the loader finds no CUDA driver on this machine (libcuda.so.1)"

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
		.is_of_other = gp_session_was_told(session, GP_SESSION_OTHER),
		.is_left_out = gp_session_was_told(session, GP_SESSION_LEFT_OUT),
		.is_said = gp_session_was_told(session, GP_SESSION_FAILED),
		.was_initialized = was_initialized,
		.has_driver = was_initialized || gp_nothing_finds_driver(),
	};
}

void gp_nothing_print(const struct gp_nothing *nothing, const char *program)
{
	char word[GP_SHELL_WORD_BYTES];

	if (nothing->is_said)
		fputs("gpuprof: nothing was recorded; a line above says why\n", stderr);
	else if (nothing->is_of_other)
		fprintf(stderr,
			"gpuprof: nothing was recorded: another gpuprof-run, which %s started, has the traces\n",
			program);
	else if (nothing->is_left_out)
		fputs("gpuprof: nothing was recorded: --processes or --ranks excludes the processes that used the GPU\n",
		      stderr);
	else if (!nothing->has_driver)
		fputs("gpuprof: nothing was recorded: " NO_DRIVER "; type: gpuprof doctor\n",
		      stderr);
	else if (nothing->was_initialized)
		fprintf(stderr,
			"gpuprof: nothing was recorded: %s initialized CUDA, but gpuprof saw it create no context; if it should have created one, check the errors of its first CUDA calls\n",
			program);
	else
		fprintf(stderr,
			"gpuprof: nothing was recorded, as far as gpuprof-run knows: it saw no process of %s use the GPU. If one did, a line above says more, or only the program saw the folder of its trace (a private /tmp), or gpuprof's library was not loaded into it (a container, a sandbox, another user); type: gpuprof doctor %s\n",
			program, gp_shell_word(program, word, sizeof(word)));
}

void gp_nothing_explain_vanished(const char *trace, char *message, size_t message_bytes)
{
	snprintf(
		message, message_bytes,
		"a process recorded %s, but gpuprof-run does not find this file: it or its folder was removed, or only the program sees the folder (a private /tmp, a container); to keep the trace, run again with -o FOLDER/, a folder that both see",
		trace);
}

void gp_nothing_print_driver(FILE *out)
{
	fputs("gpuprof: " NO_DRIVER ", so only ranges were recorded; type: gpuprof doctor\n", out);
}
