/*
 * screen: a terminal that shows pages: its alternate screen, its size, its keys, and the signals
 * that concern it.
 *
 * From gp_screen_open() to gp_screen_close() the program must be left by gp_screen_close() only:
 * signals that end or stop a program are noted, and take effect in gp_screen_wait(), which restores
 * the terminal before.  One thread, one screen.
 */
#ifndef REPORT_TOP_SCREEN_H
#define REPORT_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gp_screen_event {
	GP_SCREEN_TIME_IS_UP,
	GP_SCREEN_REDRAW, /* its size changed, or it was away */
	GP_SCREEN_QUIT,   /* a key */
	GP_SCREEN_SIGNAL, /* one that ends programs: gp_screen_close() does not return */
};

/* Whether standard output is a terminal that knows these sequences. */
bool gp_screen_is_possible(void);

/* Take the terminal. */
void gp_screen_open(void);

/* Give it back as it was.  After GP_SCREEN_SIGNAL the program ends by that signal. */
void gp_screen_close(void);

void gp_screen_size(size_t *rows, size_t *columns);

/* Show the text from the top left corner on, as much of it as there are rows. */
void gp_screen_show(const char *text);

/* Waits until that time (CLOCK_MONOTONIC), or for an event. A time in the past: only checks. */
enum gp_screen_event gp_screen_wait(uint64_t until_ns);

#endif
