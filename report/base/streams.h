/* streams: the standard streams of the program `gpuprof`, which it has from whoever starts it. */
#ifndef REPORT_BASE_STREAMS_H
#define REPORT_BASE_STREAMS_H

/*
 * Where a standard stream is closed, the next file opened would take its place, and what is meant
 * for the user would go into a trace: they are opened to nothing.  What is started from here finds
 * them closed.
 */
void gp_streams_keep_free(void);

/*
 * Programs make the pipe, terminal or socket that they write to non-blocking (Node.js, asyncio,
 * ssh), for all that have it: what we print would be cut where nobody reads fast enough.  From here
 * on ours wait, and nobody else's.  Not before a program is started, which is to have its own. For
 * a socket (systemd's journal), which cannot be opened again, stdout and stderr become streams that
 * wait.
 */
void gp_streams_wait(void);

#endif
