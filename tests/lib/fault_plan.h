/*
 * Which of the calls that are counted fail, for the libraries that stand between libgpuprof.so and others: faults.c, cupti_faults.c.
 *
 *	FAULTS_FIRST, FAULTS_LAST	numbers of the first and the last call that fails; they begin at 0
 *	FAULTS_ERROR			with this error
 *	FAULTS_ONLY			a name, as in FAULTS_SEEN: only such calls are counted, and fail
 *	FAULTS_SEEN			a file that gets a line "NUMBER NAME" for each failure
 *
 * Each process counts for itself.
 */
#ifndef TESTS_LIB_FAULT_PLAN_H
#define TESTS_LIB_FAULT_PLAN_H

#include <fcntl.h>
#include <limits.h>
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

/* The first call comes before other threads are there. */
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

static void say_failed(unsigned long call, const char *name)
{
	const char *path = getenv("FAULTS_SEEN");
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (file < 0)
		return;
	dprintf(file, "%lu %s\n", call, name);
	close(file);
}

/* Counts a call, and says whether it is one that is to fail. */
static bool is_to_fail(const char *name)
{
	unsigned long call;

	if (plan.only && strcmp(plan.only, name))
		return false;
	call = __atomic_fetch_add(&plan.calls, 1, __ATOMIC_RELAXED);
	if (call < plan.first || call > plan.last)
		return false;
	say_failed(call, name);
	return true;
}

#endif
