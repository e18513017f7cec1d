/* expect: whether a printed text has these words; cmocka's headers before it. */
#ifndef TESTS_REPORT_EXPECT_H
#define TESTS_REPORT_EXPECT_H

#include <string.h>

static inline void expect(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in:\n%s", words, text);
}

static inline void expect_not(const char *text, const char *words)
{
	if (strstr(text, words))
		fail_msg("\"%s\" is in:\n%s", words, text);
}

#endif
