/* payload_json: values and fields of range payloads as JSON. */
#ifndef REPORT_EXPORT_PAYLOAD_JSON_H
#define REPORT_EXPORT_PAYLOAD_JSON_H

#include <stdint.h>

#include "report/codec/json_write.h"
#include "report/model/model.h"

/*
 * Write a value of an enum gp_payload_kind other than GP_PAYLOAD_NONE.  Values that JSON readers
 * cannot represent exactly become text: "0x..." beyond 2^53 (decimal if signed), "nan", "inf",
 * "-inf".
 */
void gp_payload_json_value(struct gp_json *json, uint8_t kind, uint64_t value);

/*
 * Write an extended payload (see gp_payload_decode()) as an object.  A repeated name gets a number
 * appended, so that keys are unique.
 */
void gp_payload_json_fields(struct gp_json *json, const struct gp_model *model, uint32_t payload);

#endif
