/*
 * error_text: what an errno value means, in the C library's English words.
 *
 * Its own strerror() may look for a catalogue of the program's language: that opens files, allocates and takes locks, which an
 * end by _exit() out of a signal handler must not wait for.  Any thread, signal handlers, too.
 */
#ifndef INJECT_ERROR_TEXT_H
#define INJECT_ERROR_TEXT_H

/* Of an error of calls about files, memory and processes; "error 523" of others, until this thread's next such call. */
const char *gp_error_text(int error);

#endif
