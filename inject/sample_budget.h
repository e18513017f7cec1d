/*
 * sample_budget: when the next window of --sample begins.
 *
 * A window is paid for before the next one begins: the time from one beginning to the next is what
 * the window cost, divided by the share of the time that recording may cost.  So the cost keeps
 * within the share on average, whatever the program does, without an estimate of its future.
 *
 * The cost is the number of calls whose callbacks ran, which is counted, times a stated cost of a
 * call.  A comparison of step times inside and outside windows would need thousands of steps: steps
 * of a program differ by more than what recording adds.
 */
#ifndef INJECT_SAMPLE_BUDGET_H
#define INJECT_SAMPLE_BUDGET_H

#include <stdint.h>

/* The length of a window without --duration: 20 steps and more of most loops. */
#define GP_SAMPLE_WINDOW_NS 500000000u

/* A window whose time is over waits so long for the end of a range. */
#define GP_SAMPLE_RANGE_MOST_NS 30000000000u

/* The mean time from the first context to the first window, which leaves most of the startup out. */
#define GP_SAMPLE_FIRST_NS 1000000000u

/*
 * The stated cost of a recorded call on the program's thread.  It is 1 us in a loop of launches, 2.3
 * us in a PyTorch step (docs/design/performance.md), and more while memory is slow.
 */
#define GP_SAMPLE_CALL_NS 4000u

/*
 * The least cost of the time with CUPTI on, in millionths: samples of Python stacks, anchors, and
 * switching, in a program that makes few calls.
 */
#define GP_SAMPLE_LEAST_MILLIONTHS 50000u

/*
 * From the beginning of a window in which CUPTI was on for on_ns, and which reported so many calls,
 * to the beginning of the next one, if recording may cost share_millionths of the time.
 */
uint64_t gp_sample_period_ns(uint64_t calls, uint64_t on_ns, uint64_t share_millionths);

/*
 * A random time from half of the mean to one and a half of it: a fixed one could always meet the
 * same part of a program that does something at intervals.
 */
uint64_t gp_sample_vary_ns(uint64_t mean_ns, uint64_t random);

#endif
