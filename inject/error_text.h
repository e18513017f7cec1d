/*
 * error_text: the English text of an errno value, as in the C library.
 *
 * strerror() itself may load a message catalog of the program's language: it opens files, allocates
 * and takes locks, which an _exit() in a signal handler must not do.  Any thread, signal handlers,
 * too.
 */
#ifndef INJECT_ERROR_TEXT_H
#define INJECT_ERROR_TEXT_H

/*
 * For errors of calls about files, memory and processes; "error 523" for others, valid until this
 * thread's next such call.
 */
const char *gp_error_text(int error);

#endif
