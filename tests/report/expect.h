/* expect: whether a printed text has these words, its spaces squeezed; after cmocka's headers. */
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

/* Make each run of these characters one space. */
static inline void squeeze(char *text, const char *blanks)
{
	char *to = text;

	for (const char *c = text; *c != '\0'; c++)
		if (!strchr(blanks, *c))
			*to++ = *c;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
}

#endif
