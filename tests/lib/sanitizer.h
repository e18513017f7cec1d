/*
 * UNDER_TSAN, UNDER_ASAN: whether that sanitizer is compiled in, for tests of what it cannot host.
 */
#ifndef TESTS_LIB_SANITIZER_H
#define TESTS_LIB_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

#endif
