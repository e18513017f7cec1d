#include "report/doctor/finding.h"

#include <stdarg.h>
#include <stdlib.h>

#include "report/base/text/text.h"

void gp_doctor_finding_set(struct gp_doctor_finding *finding, enum gp_doctor_verdict verdict,
			   const char *format, ...)
{
	va_list arguments;

	finding->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(finding->text, sizeof(finding->text), format, arguments);
	va_end(arguments);
}

void gp_doctor_finding_fix(struct gp_doctor_finding *finding, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(finding->fix, sizeof(finding->fix), format, arguments);
	va_end(arguments);
}

/* Paths, variables and messages of other programs may hold any bytes. */
static void put(FILE *out, const char *text)
{
	gp_text_print(out, text);
	fputc('\n', out);
}

void gp_doctor_finding_print(const struct gp_doctor_finding *finding, const char *name, FILE *out)
{
	static const char *const words[GP_CHECK_VERDICTS] = {
		[GP_CHECK_OK] = "ok",
		[GP_CHECK_WARNING] = "warning",
		[GP_CHECK_FAILS] = "fails",
	};

	if (finding->verdict == GP_CHECK_NOT_MADE)
		return;
	fprintf(out, "  %-8s %-11s ", words[finding->verdict], name);
	put(out, finding->text);
	if (finding->fix[0]) {
		fprintf(out, "  %-8s %-11s type: ", "", "");
		put(out, finding->fix);
	}
}
