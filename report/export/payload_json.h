/*
 * payload_json: values and fields of ranges' payloads as JSON, for the formats that write it.
 */
#ifndef REPORT_EXPORT_PAYLOAD_JSON_H
#define REPORT_EXPORT_PAYLOAD_JSON_H

#include <stdint.h>

#include "report/codec/json_write.h"
#include "report/model/model.h"

/*
 * One value of a kind of enum gp_payload_kind, not GP_PAYLOAD_NONE.  What JSON's readers have no
 * exact number for is text: beyond 2^53 "0x..." (signed: with its digits), and "nan", "inf",
 * "-inf".
 */
void gp_payload_json_value(struct gp_json *json, uint8_t kind, uint64_t value);

/*
 * An extended payload (as for gp_payload_decode()) as an object.  A name that occurs again gets its
 * number: keys occur once.
 */
void gp_payload_json_fields(struct gp_json *json, const struct gp_model *model, uint32_t payload);

#endif
