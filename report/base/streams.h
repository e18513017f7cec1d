/* streams: the standard streams that the program `gpuprof` inherits. */
#ifndef REPORT_BASE_STREAMS_H
#define REPORT_BASE_STREAMS_H

/*
 * Opens /dev/null in place of closed standard streams. Otherwise the next opened file would take
 * the number, and messages to the user would go into a trace. Started programs still find the
 * streams closed.
 */
void gp_streams_keep_free(void);

/*
 * Makes writes to the standard streams block. Some programs (Node.js, asyncio, ssh) make their
 * pipe, terminal or socket non-blocking, and that holds for all processes that share it: output
 * would be cut when the reader is slow. Only the streams of gpuprof change. Call it after programs
 * are started, which are to inherit the original streams. For a socket (systemd's journal), which
 * cannot be opened again, stdout and stderr become FILE streams that wait.
 */
void gp_streams_wait(void);

#endif
