/* command: what the commands of the program `gpuprof` have in common (report/cli/commands.h). */
#ifndef REPORT_LOAD_COMMAND_H
#define REPORT_LOAD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_COMMAND_GO_ON (-1) /* no exit status: the command has something to do */

#define GP_EXIT_FAILED 1
#define GP_EXIT_USAGE  2

/* "gpuprof: " and one line on stderr; returns status. */
__attribute__((format(printf, 2, 3))) int gp_command_fail(int status, const char *format, ...);

/*
 * From gp_command_hold() on, lines wait for gp_command_release(), which prints or drops them: a
 * command that may begin again in another way says each once.
 */
void gp_command_hold(void);
void gp_command_release(bool is_printed);

/*
 * Whether output, which may be NULL, is none of the traces; false: a line says so, in the name of
 * the command.
 */
bool gp_command_output_is_free(const char *command, const char *output, char *const *traces,
			       size_t trace_count);

/*
 * Requires traces, and an output (may be NULL) that is none of them: GP_COMMAND_GO_ON; else an exit
 * status, after a line that names the fault.
 */
int gp_command_check_traces(const char *command, const char *output, char *const *traces,
			    size_t trace_count);

struct gp_did_you_mean;

/*
 * There is no such thing (WHAT: "format", "table by") as the word of `nearest`: the line names the
 * word that was probably meant, or says otherwise. Returns GP_EXIT_USAGE.
 */
int gp_command_refuse(const char *command, const char *what, const struct gp_did_you_mean *nearest,
		      const char *otherwise);

/*
 * The number after an option, from 0 to most: true.  Else false, and a line that names the option
 * and most.
 */
bool gp_command_number(const char *command, const char *option, const char *text, uint64_t most,
		       uint64_t *number);
#define GP_COMMAND_MOST 1000000000u /* rows, slices, times: more than any page or trace needs */

/*
 * The time after an option, in ns: "1.5s", "20ms", "300us", "5000ns".  True; else false, and a line
 * that names the option.
 */
bool gp_command_time(const char *command, const char *option, const char *text, uint64_t *time_ns);

/*
 * A line on stderr on a file that was written; none for "-".  Of a name that the user gave only
 * where somebody watches, stderr being a terminal.  Returns 0.
 */
int gp_command_wrote(const char *path, bool is_given);

#endif
