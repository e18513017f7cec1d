/*
 * Selects the calls that fail, for the libraries between libgpuprof.so and others: faults.c,
 * cupti_faults.c.
 *
 *	FAULTS_FIRST, FAULTS_LAST	indexes of the first and the last failing call, from 0
 *	FAULTS_ERROR			the error
 *	FAULTS_ONLY			a name as in FAULTS_SEEN: only these calls count, and fail
 *	FAULTS_SEEN			a file that gets a line "NUMBER NAME" for each failure
 *
 * Each process counts separately.
 */
#ifndef TESTS_LIB_FAULT_PLAN_H
#define TESTS_LIB_FAULT_PLAN_H

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool is_read;
	unsigned long first, last;
	int error;
	const char *only;
	unsigned long calls; /* atomic */
} plan;

static unsigned long number_in(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* Called before there are other threads. */
static void read_plan(int usual_error)
{
	if (plan.is_read)
		return;
	plan.error = (int)number_in("FAULTS_ERROR", (unsigned long)usual_error);
	plan.first = number_in("FAULTS_FIRST", ULONG_MAX);
	plan.last = number_in("FAULTS_LAST", plan.first);
	plan.only = getenv("FAULTS_ONLY");
	plan.is_read = true;
}

/*
 * Appends a line to the file that a variable names, if it is set.  Not by dprintf(): glibc before
 * 2.37 has its stream in the list that exit() and a forked child flush, although its descriptor
 * belongs to a thread with its own descriptor table.
 */
__attribute__((format(printf, 2, 3))) static void note(const char *variable, const char *format,
						       ...)
{
	const char *path = getenv(variable);
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	char line[160];
	va_list values;
	int length;

	if (file < 0)
		return;
	va_start(values, format);
	length = vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	if (write(file, line, (size_t)length) != length)
		abort();
	close(file);
}

/* Counts a call.  Returns whether it must fail. */
static bool is_to_fail(const char *name)
{
	unsigned long call;

	if (plan.only && strcmp(plan.only, name))
		return false;
	call = __atomic_fetch_add(&plan.calls, 1, __ATOMIC_RELAXED);
	if (call < plan.first || call > plan.last)
		return false;
	note("FAULTS_SEEN", "%lu %s\n", call, name);
	return true;
}

#endif
