#include "report/doctor/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/doctor/ask.h"
#include "report/run/environment.h"

#define LIMIT_S 20

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void add_of_cuda(struct gp_libraries *libraries, const char *path)
{
	size_t count = 0;

	while (libraries->of_cuda[count])
		count++;
	if (count < GP_LIBRARIES_OF_CUDA)
		libraries->of_cuda[count] = strdup(path);
}

/* Takes a line "\tlibNAME.so.N => /path/libNAME.so.N (0x...)", or "=> not found". */
static void take_line(struct gp_libraries *libraries, char *line)
{
	char *name = line + strspn(line, " \t");
	char *arrow = strstr(name, " => "), *path = arrow ? arrow + 4 : NULL;
	char *end = path ? strrchr(path, '(') : NULL;

	if (!arrow)
		return;
	*arrow = 0;
	if (begins_with(name, "libasan.so"))
		libraries->has_asan = true;
	if (strcmp(path, "not found") == 0 && !libraries->missing[0])
		snprintf(libraries->missing, sizeof(libraries->missing), "%s", name);
	if (!end || end == path || end[-1] != ' ')
		return;
	end[-1] = 0;
	if (begins_with(name, "libcudart.so") || begins_with(name, "libcupti.so"))
		add_of_cuda(libraries, path);
}

/* A program can name any file as its loader, so only the loader of this process is run. */
static bool has_our_loader(const struct gp_target *target)
{
	struct gp_target own;

	gp_target_resolve("/proc/self/exe", &own);
	return own.loader[0] && strcmp(own.loader, target->loader) == 0;
}

static void ask_loader(struct gp_libraries *libraries, const struct gp_target *target,
		       char *const *environment)
{
	char *arguments[] = {(char *)target->loader, (char *)target->file, NULL};
	struct gp_question question = {
		.arguments = arguments, .environment = environment, .limit_s = LIMIT_S};
	struct gp_doctor_answer *answer = malloc(sizeof(*answer));
	char *save;

	if (gp_ask(&question, answer) == 0 && gp_answer_is_good(answer)) {
		libraries->is_listed = true;
		for (char *line = strtok_r(answer->out, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			take_line(libraries, line);
	}
	free(answer);
}

void gp_libraries_list(struct gp_libraries *libraries, const struct gp_target *target)
{
	struct gp_environment environment;

	*libraries = (struct gp_libraries){.is_listed = false};
	if (!has_our_loader(target))
		return;
	gp_environment_copy(&environment, environ);
	gp_environment_set(&environment, "LD_TRACE_LOADED_OBJECTS", "1");
	ask_loader(libraries, target, environment.entries);
	gp_environment_free(&environment);
}

void gp_libraries_free(struct gp_libraries *libraries)
{
	for (size_t i = 0; i < GP_LIBRARIES_OF_CUDA; i++)
		free(libraries->of_cuda[i]);
	*libraries = (struct gp_libraries){.is_listed = false};
}
