/*
 * document: a report as data: facts, and sections of rows.  Every fact, section and field has a
 * stable id, and a value with a unit; writers render it, and tests assert ids and values.
 *
 * The first field of a row is its id: the rule of a finding, an idle cause, the number of a device.
 * An id ends with the unit of its value: saves_ns, peak_bytes, saves_share.  A sentence is the
 * field "text", without line breaks: the renderer wraps it.  The field "command" is the command
 * that prints more.  A row of one field with the id "" is a plain value.  A document is built from
 * front to back and holds copies of all texts.
 */
#ifndef REPORT_DOCUMENT_DOCUMENT_H
#define REPORT_DOCUMENT_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/codec/json_write.h"
#include "report/document/value.h"

struct gp_document_field {
	const char *id; /* here and in the next struct: a string that outlives the document */
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

/* Initialize with all members 0. */
struct gp_document {
	struct gp_fields facts;
	struct gp_section *sections;
	uint32_t count, capacity;
	int error; /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

void gp_document_free(struct gp_document *document);

/* Begin a section: the next rows belong to it. */
void gp_document_add_section(struct gp_document *document, const char *id);

/* Begin a row: the next fields belong to it; fields before the first row are facts. */
void gp_document_add_row(struct gp_document *document);

/* Add a field; a value of kind none adds nothing. */
void gp_document_add(struct gp_document *document, const char *id, enum gp_unit unit,
		     struct gp_value value);

void gp_document_add_number(struct gp_document *document, const char *id, enum gp_unit unit,
			    uint64_t number);
void gp_document_add_flag(struct gp_document *document, const char *id, bool is_so);

/* Add an unknown number. */
void gp_document_add_unknown(struct gp_document *document, const char *id);

/* NULL adds nothing. */
void gp_document_add_text(struct gp_document *document, const char *id, const char *text);
__attribute__((format(printf, 3, 4))) void
gp_document_add_words(struct gp_document *document, const char *id, const char *format, ...);

/* Prints the text of a field. */
typedef void gp_document_print(FILE *out, const void *context);
void gp_document_add_printed(struct gp_document *document, const char *id, gp_document_print *print,
			     const void *context);

/* The section of that id, or NULL. */
const struct gp_section *gp_document_section(const struct gp_document *document, const char *id);
const struct gp_value *gp_fields_value(const struct gp_fields *fields, const char *id);

/* The text of a field; "" if there is none. */
const char *gp_fields_text(const struct gp_fields *fields, const char *id);

/* "FACT": value, ..., "SECTION": [{"FIELD": value, ...}, ...], ...: an object without its braces. */
void gp_document_write_json(const struct gp_document *document, struct gp_json *json);

/* The same with braces.  Returns 0, -ENOMEM, -EIO or the error of the document. */
int gp_document_write(const struct gp_document *document, FILE *out);

/* Print the sentences of a section (NULL = none), each on new lines, with their commands. */
void gp_document_print_text(const struct gp_section *section, size_t columns, FILE *out);

#endif
