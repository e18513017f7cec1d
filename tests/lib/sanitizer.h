/*
 * UNDER_TSAN, UNDER_ASAN: whether this sanitizer is compiled in, for tests that do not work with
 * it.
 */
#ifndef TESTS_LIB_SANITIZER_H
#define TESTS_LIB_SANITIZER_H

#ifdef __has_feature /* clang */
#define UNDER_TSAN __has_feature(thread_sanitizer)
#define UNDER_ASAN __has_feature(address_sanitizer)
#else
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif
#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif
#endif

#endif
