/*
 * commands: the commands of the program `gpuprof`, each in a file of its name.
 *
 * A command gets argv from its own name on and returns the exit status: 0, 1 where it failed (and
 * has said why in one line), 2 where it was called wrongly.
 */
#ifndef REPORT_CLI_COMMANDS_H
#define REPORT_CLI_COMMANDS_H

int gp_command_summary(int argc, char **argv);
int gp_command_trace(int argc, char **argv);
int gp_command_export(int argc, char **argv);
int gp_command_merge(int argc, char **argv);
int gp_command_html(int argc, char **argv);
int gp_command_serve(int argc, char **argv);
int gp_command_finish(int argc, char **argv);
int gp_command_doctor(int argc, char **argv);
int gp_command_top(int argc, char **argv);
int gp_command_advice(int argc, char **argv);
int gp_command_explain(int argc, char **argv);
int gp_command_check(int argc, char **argv);
int gp_command_diff(int argc, char **argv);
int gp_command_metrics(int argc, char **argv);
int gp_command_recipe(int argc, char **argv);
int gp_command_attach(int argc, char **argv);
int gp_command_detach(int argc, char **argv);

#endif
