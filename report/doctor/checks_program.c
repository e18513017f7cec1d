/* checks_program: the named program, and Python. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "gpuprof/python_versions.h"
#include "gpuprof/shell_word.h"
#include "report/doctor/checks.h"
#include "report/base/text/format.h"

static bool is_found(const struct gp_examination *examination)
{
	return examination->program && !examination->program_error;
}

/* Finds a name without a slash in the current folder, which is not in PATH. */
static int look_here(const char *program)
{
	char here[PATH_MAX], path[PATH_MAX];

	if (strchr(program, '/') || !*program ||
	    snprintf(here, sizeof(here), "./%s", program) >= (int)sizeof(here))
		return -ENOENT;
	return gp_target_find(here, path);
}

static void report_not_found(const struct gp_examination *examination,
			     struct gp_doctor_finding *finding)
{
	char word[GP_SHELL_WORD_BYTES];
	const char *program = examination->program,
		   *name = gp_shell_word(program, word, sizeof(word));
	const char *in_path = strchr(program, '/') ? "" : " in PATH";
	int here = look_here(program);

	if (examination->program_error == -EISDIR || here == -EISDIR) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s is a folder; name a program",
				      program);
	} else if (examination->program_error == -EACCES || here == -EACCES) {
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"%s is not an executable file; name its interpreter first, or run",
			program);
		gp_doctor_finding_fix(finding, "chmod +x %s", name);
	} else if (here == 0) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "there is no program %s in PATH; did you mean ./%s?", program,
				      program);
		gp_doctor_finding_fix(finding, "gpuprof doctor ./%s", name);
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "there is no program %s%s", program,
				      in_path);
	}
}

/* The simulated device learns of kernels by the registration functions of the shared runtime. */
static bool has_static_runtime(const struct gp_examination *examination)
{
	return examination->target.has_kernels && examination->libraries.is_listed &&
	       !examination->libraries.missing[0] && !examination->libraries.of_cuda[0];
}

static void report_static_runtime(const struct gp_examination *examination,
				  struct gp_doctor_finding *finding)
{
	if (gp_check_offers_simulator(examination))
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"%s can be profiled on a GPU, but does not run on the simulated device, as it links the CUDA runtime statically; link the shared runtime",
			examination->target.file);
	else
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"%s links the CUDA runtime statically, so its calls fail on the simulated device; link the shared runtime",
			examination->target.file);
	gp_doctor_finding_fix(finding, "nvcc -cudart shared ...");
}

static bool is_simulated(const struct gp_examination *examination)
{
	return strcmp(examination->plain.device, "Simulated GPU") == 0 ||
	       gp_check_offers_simulator(examination);
}

void gp_check_program(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	char word[GP_SHELL_WORD_BYTES];
	const char *bar = gp_target_bar_text(examination->target.bar);

	if (!examination->program)
		return;
	if (examination->program_error) {
		report_not_found(examination, finding);
	} else if (bar) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s cannot be profiled: %s",
				      examination->target.file, bar);
		if (examination->target.bar == GP_TARGET_PRIVILEGED)
			gp_doctor_finding_fix(
				finding, "sudo gpuprof-run %s",
				gp_shell_word(examination->program, word, sizeof(word)));
	} else if (is_simulated(examination) && has_static_runtime(examination)) {
		report_static_runtime(examination, finding);
	} else if (strcmp(examination->program_path, examination->target.file) != 0) {
		gp_doctor_finding_set(
			finding, GP_CHECK_OK,
			"%s is a script for %s; the interpreter and the programs that it starts can be profiled",
			examination->program_path, examination->target.file);
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "%s can be profiled",
				      examination->target.file);
	}
}

void gp_check_libraries(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_libraries *libraries = &examination->libraries;
	char word[GP_SHELL_WORD_BYTES];

	if (!is_found(examination) || !libraries->is_listed)
		return;
	if (libraries->missing[0]) {
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"%s does not start, even without gpuprof: the loader does not find %s",
			examination->program, libraries->missing);
		gp_doctor_finding_fix(finding, "ldd %s",
				      gp_shell_word(examination->target.file, word, sizeof(word)));
	} else if (libraries->has_asan) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"it uses gcc's address sanitizer, which does not allow LD_PRELOAD alone; gpuprof-run works");
		gp_doctor_finding_fix(finding, "gpuprof-run %s",
				      gp_shell_word(examination->program, word, sizeof(word)));
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "all found%s%s",
				      libraries->of_cuda[0] ? "; CUDA libraries: " : "",
				      libraries->of_cuda[0] ? libraries->of_cuda[0] : "");
	}
}

/* The CUPTI that goes with the CUDA libraries of the program or of Python's packages. */
void gp_check_its_cupti(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->with_cuda;
	const char *whose =
		examination->libraries.of_cuda[0] ? examination->program : "Python's packages";

	if (!trial->is_made)
		return;
	if (trial->unloadable[0])
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "cannot load the CUDA libraries of %s: %s", whose,
				      trial->unloadable);
	else if (trial->cupti_version == 0 || trial->ops == 0)
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"with the CUDA libraries of %s no GPU activity was recorded: %.*s", whose,
			(int)strcspn(trial->said, "\n"), trial->said);
	else
		gp_doctor_finding_set(
			finding, GP_CHECK_OK, "with the CUDA libraries of %s: %s (%s)", whose,
			gp_format_cupti_version(trial->cupti_version).text, trial->cupti);
}

void gp_check_python(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_python *python = &examination->python;
	bool is_known = python->major == 3 && python->minor >= GP_PYTHON_OLDEST_MINOR &&
			python->minor <= GP_PYTHON_NEWEST_MINOR && !python->is_free_threaded &&
			strcmp(python->implementation, "cpython") == 0;

	if (!python->path[0])
		return;
	if (!python->is_asked)
		gp_doctor_finding_set(finding, GP_CHECK_WARNING, "%s does not answer",
				      python->path);
	else if (!is_known)
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"call stacks will have no Python functions: gpuprof supports CPython 3.%d to 3.%d with the global lock, and %s is %s %u.%u%s",
			GP_PYTHON_OLDEST_MINOR, GP_PYTHON_NEWEST_MINOR, python->path,
			python->implementation, python->major, python->minor,
			python->is_free_threaded ? " without it" : "");
	else
		gp_doctor_finding_set(finding, GP_CHECK_OK,
				      "%u.%u: call stacks have Python functions (%s)",
				      python->major, python->minor, python->path);
	if (is_known || !python->is_asked)
		return;
	gp_doctor_finding_fix(finding, "gpuprof-run --stacks=none ...   # or use another Python");
}
