/*
 * document: a report as data: facts, and sections of rows.  Every fact, section and field has a
 * stable id, and a value with its unit; writers render it, and tests assert ids and values.
 *
 * The first field of a row is its id: the rule of a finding, the cause of idle time, the number of
 * a device.  An id ends with the unit of its value: saves_ns, peak_bytes, saves_share.  A sentence
 * is the field "text", without line breaks: where a line ends, its renderer decides.  The command
 * that says more is the field "command".
 *
 * A row of one field with the id "" is that value alone.
 *
 * A document is built from front to back and holds copies of all texts.
 */
#ifndef REPORT_DOCUMENT_DOCUMENT_H
#define REPORT_DOCUMENT_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/codec/json_write.h"
#include "report/document/value.h"

struct gp_document_field {
	const char *id; /* in this struct and the next: a string that outlives the document */
	enum gp_unit unit;
	struct gp_value value;
};

struct gp_fields {
	struct gp_document_field *fields;
	uint32_t count, capacity;
};

struct gp_section {
	const char *id;
	struct gp_fields *rows;
	uint32_t count, capacity;
};

/* Begin with all members 0. */
struct gp_document {
	struct gp_fields facts;
	struct gp_section *sections;
	uint32_t count, capacity;
	int error; /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

void gp_document_free(struct gp_document *document);

/* The next rows belong to it. */
void gp_document_add_section(struct gp_document *document, const char *id);

/* The next fields belong to it; before the first row, fields are facts. */
void gp_document_add_row(struct gp_document *document);

/* A value of kind none adds nothing. */
void gp_document_add(struct gp_document *document, const char *id, enum gp_unit unit,
		     struct gp_value value);

void gp_document_add_number(struct gp_document *document, const char *id, enum gp_unit unit,
			    uint64_t number);
void gp_document_add_flag(struct gp_document *document, const char *id, bool is_so);

/* A number that is not known. */
void gp_document_add_unknown(struct gp_document *document, const char *id);

/* NULL adds nothing. */
void gp_document_add_text(struct gp_document *document, const char *id, const char *text);
__attribute__((format(printf, 3, 4))) void
gp_document_add_words(struct gp_document *document, const char *id, const char *format, ...);

/* What a function prints. */
typedef void gp_document_print(FILE *out, const void *context);
void gp_document_add_printed(struct gp_document *document, const char *id, gp_document_print *print,
			     const void *context);

/* NULL: there is none. */
const struct gp_section *gp_document_section(const struct gp_document *document, const char *id);
const struct gp_value *gp_fields_value(const struct gp_fields *fields, const char *id);

/* "" where there is none. */
const char *gp_fields_text(const struct gp_fields *fields, const char *id);

/* "FACT": value, ..., "SECTION": [{"FIELD": value, ...}, ...], ...: an object without its braces. */
void gp_document_write_json(const struct gp_document *document, struct gp_json *json);

/* The same with its braces.  Returns 0, -ENOMEM, -EIO or the error of the document. */
int gp_document_write(const struct gp_document *document, FILE *out);

/* The sentences of a section, NULL = none, each on lines of its own, with their commands. */
void gp_document_print_text(const struct gp_section *section, size_t columns, FILE *out);

#endif
