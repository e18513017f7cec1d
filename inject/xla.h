/*
 * xla: whether the process has XLA, the compiler of JAX and TensorFlow.
 *
 * A CUDA graph that XLA makes of operations fails on the GPU (CUDA_ERROR_LAUNCH_FAILED), where CUPTI was asked for its records before, by
 * cuptiActivityFlushAll() (docs/design/cupti-notes.md, 8).  In such a process we ask it for none until the end: it gives what fills a buffer.  What a client of CUPTI in
 * the program asks for is its own.
 */
#ifndef INJECT_XLA_H
#define INJECT_XLA_H

#include <stdbool.h>

/* When the session starts, and by the fetching thread now and then.  Cheap where nothing was loaded since, or it was there before. */
bool gp_xla_is_here(void);

#endif
