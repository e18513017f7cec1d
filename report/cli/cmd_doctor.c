#include <getopt.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "gpuprof/version.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/doctor/ask.h"
#include "report/doctor/checks.h"
#include "report/doctor/personal.h"
#include "report/doctor/probe.h"
#include "report/base/text/text.h"

static const char usage[] =
	"usage: gpuprof doctor [options] [--] [PROGRAM]\n"
	"\n"
	"Check what works here, and print one line for each check, with the command that fixes a\n"
	"failure.  The doctor runs a small program on the GPU, plain, recorded, and with each option\n"
	"that reads hardware counters or energy, and checks folders, limits and permissions.  With\n"
	"PROGRAM it also checks whether that program can be profiled, and with which libcupti.  It does\n"
	"not run PROGRAM, but it asks the interpreter of a Python script for its version.\n"
	"\n"
	"Exit status: 0 if recording works, also with warnings; 1 if it does not, here or for\n"
	"PROGRAM.\n"
	"\n"
	"      --report          print the checks for a bug report: without your name, your home folder\n"
	"                        and this machine's name\n"
	"      --limit S         wait at most S seconds for the small program (default 60: machines with\n"
	"                        many GPUs and no persistence mode are slow)\n"
	"  -h, --help            print this text\n"
	"\n"
	"  gpuprof doctor\n"
	"  gpuprof doctor python train.py\n"
	"  gpuprof doctor --report > report.txt\n";

#define LIMIT_S 60

/* In the order of output. */
static const struct check {
	const char *name;
	void (*function)(const struct gp_examination *examination,
			 struct gp_doctor_finding *finding);
	bool of_program; /* checks the program, not the machine */
} checks[] = {
	{"driver", gp_check_driver, false},        {"GPU", gp_check_gpu, false},
	{"simulator", gp_check_simulator, false},  {"library", gp_check_library, false},
	{"CUPTI", gp_check_cupti, false},          {"other tools", gp_check_tools, false},
	{"recording", gp_check_recording, false},  {"options", gp_check_options, false},
	{"traces", gp_check_folder, false},        {"rings", gp_check_rings, false},
	{"temporary", gp_check_session, false},    {"limits", gp_check_limits, false},
	{"seccomp", gp_check_seccomp, false},      {"counters", gp_check_counters, false},
	{"hw-timeline", gp_check_timeline, false}, {"stalls", gp_check_stalls, false},
	{"roofline", gp_check_roofline, false},    {"energy", gp_check_energy, false},
	{"ptrace", gp_check_ptrace, false},        {"program", gp_check_program, true},
	{"libraries", gp_check_libraries, true},   {"its CUPTI", gp_check_its_cupti, true},
	{"Python", gp_check_python, false},
};

/* personal: what is masked for a report that is published; NULL = nothing. */
static void print_machine(const struct gp_personal *personal)
{
	struct utsname machine;

	uname(&machine);
	printf("gpuprof " GP_VERSION " on %s: %s %s %s, glibc %s\n",
	       personal ? "HOST" : machine.nodename, machine.sysname, machine.release,
	       machine.machine, gnu_get_libc_version());
}

/* Masks a text in its place. */
static void mask(const struct gp_personal *personal, char *text, size_t bytes)
{
	char *masked;

	if (!personal)
		return;
	masked = gp_personal_mask(personal, text);
	snprintf(text, bytes, "%s", masked);
	free(masked);
}

static void print_end_without(const struct gp_personal *personal, const char *program)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s", program);
	mask(personal, name, sizeof(name));
	printf("recording works here, but not for ");
	gp_text_print(stdout, name);
	printf(": see the failures above\n");
}

static void print_end(const struct gp_examination *examination, const struct gp_personal *personal,
		      const size_t counts[GP_CHECK_VERDICTS], size_t of_program)
{
	size_t warnings = counts[GP_CHECK_WARNING];

	if (counts[GP_CHECK_FAILS] > of_program)
		printf("recording does not work here: see the failures above\n");
	else if (of_program)
		print_end_without(personal, examination->program ? examination->program
								 : "Python's packages");
	else if (warnings)
		printf("recording works here, with %zu warning%s\n", warnings,
		       warnings > 1 ? "s" : "");
	else
		printf("recording works here\n");
}

static int report(const struct gp_examination *examination, const struct gp_personal *personal)
{
	size_t counts[GP_CHECK_VERDICTS] = {0}, of_program = 0;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct gp_doctor_finding finding = {.verdict = GP_CHECK_NOT_MADE};

		checks[i].function(examination, &finding);
		mask(personal, finding.text, sizeof(finding.text));
		mask(personal, finding.fix, sizeof(finding.fix));
		gp_doctor_finding_print(&finding, checks[i].name, stdout);
		counts[finding.verdict]++;
		of_program += checks[i].of_program && finding.verdict == GP_CHECK_FAILS;
	}
	print_end(examination, personal, counts, of_program);
	return counts[GP_CHECK_FAILS] ? GP_EXIT_FAILED : 0;
}

/* Temporary files are gone by now. */
static void end_by_signal(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static int examine(const struct gp_personal *personal, const char *program, unsigned limit_s)
{
	struct gp_examination *examination = malloc(sizeof(*examination));
	int status;

	print_machine(personal);
	fflush(stdout);
	gp_ask_hold_signals();
	gp_examination_run(examination, program, limit_s);
	status = gp_ask_signal() ? GP_EXIT_FAILED : report(examination, personal);
	gp_examination_free(examination);
	free(examination);
	if (gp_ask_signal())
		end_by_signal(gp_ask_signal());
	return status;
}

struct arguments {
	/*
	 * one of gp_probe_words: this process is the small program that the doctor runs; NULL = it
	 * is the doctor
	 */
	const char *probe;
	unsigned limit_s;
	bool is_published;
};

static int take_limit(const struct gp_command_line *line, const char *text)
{
	struct arguments *a = line->arguments;
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	a->limit_s = (unsigned)value;
	if (*text >= '0' && *text <= '9' && *end == '\0' && value > 0 && value <= 3600)
		return GP_COMMAND_GO_ON;
	return gp_command_fail(GP_EXIT_USAGE,
			       "doctor: --limit needs a number from 1 to 3600, not %s", text);
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"limit", .take = take_limit},
		{"report", .flag = &a->is_published},
		{"probe", .text = &a->probe},
		{0},
	};
	const struct gp_command_line line = {.command = "doctor",
					     .usage = usage,
					     .options = options,
					     .arguments = a,
					     .stops_at_words = true};

	return gp_command_line_read(&line, argc, argv);
}

/* Ranges for any unknown word. */
static enum gp_probe_kind probe_kind(const char *word)
{
	int kind = GP_PROBE_KINDS - 1;

	while (kind > GP_PROBE_RANGES && strcmp(gp_probe_words[kind], word) != 0)
		kind--;
	return (enum gp_probe_kind)kind;
}

int gp_command_doctor(int argc, char **argv)
{
	struct arguments a = {.limit_s = LIMIT_S};
	struct gp_personal personal;
	int status = parse(argc, argv, &a);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (a.probe)
		return gp_probe(probe_kind(a.probe), argv + optind);
	gp_personal_find(&personal);
	return examine(a.is_published ? &personal : NULL, argv[optind], a.limit_s);
}
