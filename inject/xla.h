/*
 * xla: whether the process has loaded XLA, the compiler of JAX and TensorFlow.
 *
 * A CUDA graph that XLA builds fails on the GPU (CUDA_ERROR_LAUNCH_FAILED) if
 * cuptiActivityFlushAll() was called before (docs/design/cupti-notes.md, 8).  In such a process we
 * do not flush until the end: CUPTI delivers full buffers by itself.  Flushes by a CUPTI client in
 * the program stay the client's responsibility.
 */
#ifndef INJECT_XLA_H
#define INJECT_XLA_H

#include <stdbool.h>

/*
 * When the session starts, and by the fetching thread periodically.  Cheap if no module was loaded
 * since, or XLA was found before.
 */
bool gp_xla_is_loaded(void);

#endif
