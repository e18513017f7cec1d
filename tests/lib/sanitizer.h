/* UNDER_TSAN: whether ThreadSanitizer is compiled in, for tests of what it cannot host. */
#ifndef TESTS_LIB_SANITIZER_H
#define TESTS_LIB_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

#endif
