/*
 * sentence: a sentence of advice as a template over the values of a finding.
 *
 *   {id}             the value of that field, as text shows it
 *   [A|B|C]          the first of these parts whose own fields are all set; nothing if none is
 *   {?id} {!id}      prints nothing; its part needs the field to be set, or to be unset
 *   {?id=v} {!id=v}  the same, for the value v
 *
 * A field is set if it exists and is not 0, false or "", or if it is a number that is a name
 * (GP_UNIT_NUMBER).  Parts can contain further brackets.
 */
#ifndef REPORT_ADVICE_SENTENCE_H
#define REPORT_ADVICE_SENTENCE_H

#include <stdio.h>

#include "report/document/document.h"

void gp_sentence_print(FILE *out, const char *sentence, const struct gp_fields *fields);

/* The same as a text to be freed; NULL: no memory. */
char *gp_sentence_text(const char *sentence, const struct gp_fields *fields);

#endif
