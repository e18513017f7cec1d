#include "report/doctor/python.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/doctor/ask.h"

#define LIMIT_S 20

/*
 * Asked of an isolated interpreter: others import modules from the current folder. It is told the
 * folders that isolation leaves out.
 */
static const char question[] = "import os, site, sys, sysconfig\n"
			       "print(sys.implementation.name, *sys.version_info[:2],\n"
			       "      int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))\n"
			       "own = os.environ.get('PYTHONPATH', '').split(os.pathsep)\n"
			       "user = [] if sys.prefix != sys.base_prefix else\\\n"
			       "    [site.getusersitepackages()]\n"
			       "print(*own, *sys.path, *user, sep='\\n')\n";

/* The places of the runtime in the packages of CUDA 12 and 13. */
static const char *const places[] = {
	"nvidia/cu1[0-9]/lib/libcudart.so.[0-9]*",
	"nvidia/cuda_runtime/lib/libcudart.so.[0-9]*",
	"torch/lib/libcudart*.so.[0-9]*",
};

bool gp_python_is_one(const char *path)
{
	const char *name = basename(path);

	return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

static size_t count_libraries(const struct gp_python *python)
{
	size_t count = 0;

	while (python->libraries[count])
		count++;
	return count;
}

static void look_in(struct gp_python *python, const char *folder, const char *place)
{
	char pattern[PATH_MAX];
	glob_t matches;

	if (snprintf(pattern, sizeof(pattern), "%s/%s", folder, place) >= (int)sizeof(pattern) ||
	    glob(pattern, 0, NULL, &matches) != 0)
		return;
	for (size_t i = 0; i < matches.gl_pathc; i++)
		if (count_libraries(python) < GP_PYTHON_LIBRARIES)
			python->libraries[count_libraries(python)] = strdup(matches.gl_pathv[i]);
	globfree(&matches);
}

/* The interpreter uses the first folder that has a package. */
static void find_libraries(struct gp_python *python, char *lines)
{
	char *save;

	for (char *folder = strtok_r(lines, "\n", &save); folder && !python->libraries[0];
	     folder = strtok_r(NULL, "\n", &save)) {
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			look_in(python, folder, places[i]);
		if (python->libraries[0])
			snprintf(python->packages, sizeof(python->packages), "%s", folder);
	}
}

static void take_answer(struct gp_python *python, char *text)
{
	char *rest = strchr(text, '\n');
	unsigned is_free_threaded;

	if (!rest || sscanf(text, "%31s %u %u %u", python->implementation, &python->major,
			    &python->minor, &is_free_threaded) != 4)
		return;
	python->is_asked = true;
	python->is_free_threaded = is_free_threaded != 0;
	find_libraries(python, rest + 1);
}

void gp_python_ask(struct gp_python *python, const char *path)
{
	char *arguments[] = {python->path, "-I", "-c", (char *)question, NULL};
	struct gp_question asked = {
		.arguments = arguments, .environment = environ, .limit_s = LIMIT_S};
	struct gp_doctor_answer *answer = malloc(sizeof(*answer));

	*python = (struct gp_python){.path = ""};
	snprintf(python->path, sizeof(python->path), "%s", path);
	if (gp_ask(&asked, answer) == 0 && gp_answer_is_good(answer))
		take_answer(python, answer->out);
	free(answer);
}

void gp_python_free(struct gp_python *python)
{
	for (size_t i = 0; i < GP_PYTHON_LIBRARIES; i++)
		free(python->libraries[i]);
	*python = (struct gp_python){.path = ""};
}
