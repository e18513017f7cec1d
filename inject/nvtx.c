#include "inject/nvtx.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/sys.h"
#include "gpuprof/injection.h"
#include "inject/user_names.h"
#include "inject/nvtx_message.h"
#include "inject/nvtx_payload.h"
#include "inject/ranges.h"
#include "inject/session.h"

#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

static char other_tool[256];

/* ---- event attributes besides the message ---- */

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void read_payload(struct gp_known_text *domain, const nvtxEventAttributes_t *event,
			 struct gp_range_details *details)
{
	switch (event->payloadType) {
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
		details->payload_kind = GP_PAYLOAD_UNSIGNED;
		details->payload = event->payload.ullValue;
		break;
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
		details->payload_kind = GP_PAYLOAD_UNSIGNED;
		details->payload = event->payload.uiValue;
		break;
	case NVTX_PAYLOAD_TYPE_INT64:
		details->payload_kind = GP_PAYLOAD_SIGNED;
		details->payload = (uint64_t)event->payload.llValue;
		break;
	case NVTX_PAYLOAD_TYPE_INT32:
		details->payload_kind = GP_PAYLOAD_SIGNED;
		details->payload = (uint64_t)(int64_t)event->payload.iValue;
		break;
	case NVTX_PAYLOAD_TYPE_DOUBLE:
		details->payload_kind = GP_PAYLOAD_FLOATING;
		details->payload = bits_of(event->payload.dValue);
		break;
	case NVTX_PAYLOAD_TYPE_FLOAT:
		details->payload_kind = GP_PAYLOAD_FLOATING;
		details->payload = bits_of((double)event->payload.fValue);
		break;
	case NVTX_PAYLOAD_TYPE_EXT:
		details->payload_id = gp_payload_of_event(domain, event);
		break;
	default:
		break;
	}
}

/* An event of a domain, from its attributes; this is the shortest version of them. */
struct event {
	struct gp_message message;
	struct gp_range_details details;
	struct gp_wide_buffer buffer;
};

static void read_event(struct event *event, nvtxDomainHandle_t domain,
		       const nvtxEventAttributes_t *attributes)
{
	event->message = (struct gp_message){.bytes = NULL};
	memset(&event->details, 0, sizeof(event->details));
	if (attributes == NULL)
		return;
	event->message =
		gp_message_of(attributes->messageType, attributes->message, &event->buffer);
	event->details.category = attributes->category;
	if (attributes->colorType == NVTX_COLOR_ARGB) {
		event->details.flags = GP_RANGE_HAS_COLOR;
		event->details.color_argb = attributes->color;
	}
	if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN)
		read_payload(gp_message_domain(domain), attributes, &event->details);
}

/* ---- events ---- */

static void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	struct event event;

	read_event(&event, domain, attributes);
	gp_ranges_mark(gp_message_domain(domain), &event.message, &event.details);
}

static nvtxRangeId_t domain_start(nvtxDomainHandle_t domain,
				  const nvtxEventAttributes_t *attributes)
{
	struct event event;

	read_event(&event, domain, attributes);
	return gp_ranges_start(gp_message_domain(domain), &event.message, &event.details);
}

static void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	gp_ranges_end(gp_message_domain(domain), id, 0);
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	struct event event;

	read_event(&event, domain, attributes);
	return gp_ranges_push(gp_message_domain(domain), &event.message, &event.details);
}

static int domain_pop(nvtxDomainHandle_t domain)
{
	return gp_ranges_pop(gp_message_domain(domain), 0);
}

static void mark_ex(const nvtxEventAttributes_t *attributes)
{
	domain_mark(NULL, attributes);
}

static void mark_a(const char *text)
{
	struct gp_message message = gp_message_narrow(text);

	gp_ranges_mark(NULL, &message, NULL);
}

static void mark_w(const wchar_t *text)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(text, &buffer);

	gp_ranges_mark(NULL, &message, NULL);
}

static nvtxRangeId_t start_ex(const nvtxEventAttributes_t *attributes)
{
	return domain_start(NULL, attributes);
}

static nvtxRangeId_t start_a(const char *text)
{
	struct gp_message message = gp_message_narrow(text);

	return gp_ranges_start(NULL, &message, NULL);
}

static nvtxRangeId_t start_w(const wchar_t *text)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(text, &buffer);

	return gp_ranges_start(NULL, &message, NULL);
}

static void end(nvtxRangeId_t id)
{
	gp_ranges_end(NULL, id, 0);
}

static int push_ex(const nvtxEventAttributes_t *attributes)
{
	return domain_push(NULL, attributes);
}

static int push_a(const char *text)
{
	struct gp_message message = gp_message_narrow(text);

	return gp_ranges_push(NULL, &message, NULL);
}

static int push_w(const wchar_t *text)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(text, &buffer);

	return gp_ranges_push(NULL, &message, NULL);
}

static int pop(void)
{
	return gp_ranges_pop(NULL, 0);
}

/* ---- domains and registered strings: permanent, so that destroying does nothing ---- */

static nvtxDomainHandle_t create_domain(struct gp_message name)
{
	return (nvtxDomainHandle_t)gp_ranges_domain(name.bytes, name.length_bytes);
}

static nvtxDomainHandle_t domain_create_a(const char *name)
{
	return create_domain(gp_message_narrow(name));
}

static nvtxDomainHandle_t domain_create_w(const wchar_t *name)
{
	struct gp_wide_buffer buffer;

	return create_domain(gp_message_wide(name, &buffer));
}

static nvtxStringHandle_t register_string(struct gp_message text)
{
	return text.bytes != NULL
		       ? (nvtxStringHandle_t)gp_ranges_keep(text.bytes, text.length_bytes)
		       : NULL;
}

static nvtxStringHandle_t register_string_a(nvtxDomainHandle_t domain, const char *text)
{
	(void)domain;
	return register_string(gp_message_narrow(text));
}

static nvtxStringHandle_t register_string_w(nvtxDomainHandle_t domain, const wchar_t *text)
{
	struct gp_wide_buffer buffer;

	(void)domain;
	return register_string(gp_message_wide(text, &buffer));
}

/* ---- names ---- */

static void give_name(enum gp_string_space space, uint32_t id, uint32_t value,
		      nvtxDomainHandle_t domain, const struct gp_message *name)
{
	const char *bytes = name->kept != NULL ? name->kept->bytes : name->bytes;

	if (bytes == NULL)
		return;
	gp_user_names_add(&(struct gp_user_name){
		.space = space,
		.id = id,
		.value = value,
		.domain = gp_message_domain(domain),
		.bytes = bytes,
		.length_bytes = name->kept != NULL ? name->kept->length_bytes : name->length_bytes,
	});
}

static void name_domain_category_a(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
	struct gp_message message = gp_message_narrow(name);

	give_name(GP_STRING_CATEGORY, category, 0, domain, &message);
}

static void name_domain_category_w(nvtxDomainHandle_t domain, uint32_t category,
				   const wchar_t *name)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(name, &buffer);

	give_name(GP_STRING_CATEGORY, category, 0, domain, &message);
}

static void name_category_a(uint32_t category, const char *name)
{
	name_domain_category_a(NULL, category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
	name_domain_category_w(NULL, category, name);
}

static void name_thread_a(uint32_t thread, const char *name)
{
	struct gp_message message = gp_message_narrow(name);

	give_name(GP_STRING_THREAD, thread, GP_NAME_GIVEN, NULL, &message);
}

static void name_thread_w(uint32_t thread, const wchar_t *name)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(name, &buffer);

	give_name(GP_STRING_THREAD, thread, GP_NAME_GIVEN, NULL, &message);
}

static void name_device(int device, const struct gp_message *name)
{
	if (device >= 0)
		give_name(GP_STRING_DEVICE, (uint32_t)device, GP_NAME_GIVEN, NULL, name);
}

static void name_device_a(int device, const char *name)
{
	struct gp_message message = gp_message_narrow(name);

	name_device(device, &message);
}

static void name_device_w(int device, const wchar_t *name)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(name, &buffer);

	name_device(device, &message);
}

static void name_context(const void *context, const struct gp_message *name)
{
	uint32_t id = gp_session_context_id(context);

	if (id != 0)
		give_name(GP_STRING_CONTEXT, id, 0, NULL, name);
}

static void name_context_a(nvtx_CUcontext context, const char *name)
{
	struct gp_message message = gp_message_narrow(name);

	name_context(context, &message);
}

static void name_context_w(nvtx_CUcontext context, const wchar_t *name)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(name, &buffer);

	name_context(context, &message);
}

static void name_stream(const void *stream, const struct gp_message *name)
{
	uint32_t id, context_id;

	if (gp_session_stream_id(stream, &id, &context_id))
		give_name(GP_STRING_STREAM, id, context_id, NULL, name);
}

static void name_stream_a(nvtx_CUstream stream, const char *name)
{
	struct gp_message message = gp_message_narrow(name);

	name_stream(stream, &message);
}

static void name_stream_w(nvtx_CUstream stream, const wchar_t *name)
{
	struct gp_wide_buffer buffer;
	struct gp_message message = gp_message_wide(name, &buffer);

	name_stream(stream, &message);
}

/* A resource is a named object; names of known object types are recorded. */
static nvtxResourceHandle_t create_resource(nvtxDomainHandle_t domain,
					    nvtxResourceAttributes_t *attributes)
{
	struct gp_wide_buffer buffer;
	struct gp_message name;

	(void)domain;
	if (attributes == NULL)
		return NULL;
	name = gp_message_of(attributes->messageType, attributes->message, &buffer);
	switch ((uint32_t)attributes->identifierType) {
	case NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE:
		give_name(GP_STRING_THREAD, (uint32_t)attributes->identifier.ullValue,
			  GP_NAME_GIVEN, NULL, &name);
		break;
	/* a thread can identify only itself this way */
	case NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX:
		if (pthread_equal((pthread_t)attributes->identifier.ullValue, pthread_self()))
			give_name(GP_STRING_THREAD, gp_sys_thread_id(), GP_NAME_GIVEN, NULL, &name);
		break;
	case NVTX_RESOURCE_TYPE_CUDA_DEVICE:
	case NVTX_RESOURCE_TYPE_CUDART_DEVICE:
		name_device((int)attributes->identifier.ullValue, &name);
		break;
	case NVTX_RESOURCE_TYPE_CUDA_CONTEXT:
		name_context(attributes->identifier.pValue, &name);
		break;
	case NVTX_RESOURCE_TYPE_CUDA_STREAM:
	case NVTX_RESOURCE_TYPE_CUDART_STREAM:
		name_stream(attributes->identifier.pValue, &name);
		break;
	default:
		break;
	}
	return NULL;
}

/* ---- the tables ---- */

#define SLOT(function) ((NvtxFunctionPointer)(function))

static const NvtxFunctionPointer core[NVTX_CBID_CORE_SIZE] = {
	[NVTX_CBID_CORE_MarkEx] = SLOT(mark_ex),
	[NVTX_CBID_CORE_MarkA] = SLOT(mark_a),
	[NVTX_CBID_CORE_MarkW] = SLOT(mark_w),
	[NVTX_CBID_CORE_RangeStartEx] = SLOT(start_ex),
	[NVTX_CBID_CORE_RangeStartA] = SLOT(start_a),
	[NVTX_CBID_CORE_RangeStartW] = SLOT(start_w),
	[NVTX_CBID_CORE_RangeEnd] = SLOT(end),
	[NVTX_CBID_CORE_RangePushEx] = SLOT(push_ex),
	[NVTX_CBID_CORE_RangePushA] = SLOT(push_a),
	[NVTX_CBID_CORE_RangePushW] = SLOT(push_w),
	[NVTX_CBID_CORE_RangePop] = SLOT(pop),
	[NVTX_CBID_CORE_NameCategoryA] = SLOT(name_category_a),
	[NVTX_CBID_CORE_NameCategoryW] = SLOT(name_category_w),
	[NVTX_CBID_CORE_NameOsThreadA] = SLOT(name_thread_a),
	[NVTX_CBID_CORE_NameOsThreadW] = SLOT(name_thread_w),
};

static const NvtxFunctionPointer core2[NVTX_CBID_CORE2_SIZE] = {
	[NVTX_CBID_CORE2_DomainMarkEx] = SLOT(domain_mark),
	[NVTX_CBID_CORE2_DomainRangeStartEx] = SLOT(domain_start),
	[NVTX_CBID_CORE2_DomainRangeEnd] = SLOT(domain_end),
	[NVTX_CBID_CORE2_DomainRangePushEx] = SLOT(domain_push),
	[NVTX_CBID_CORE2_DomainRangePop] = SLOT(domain_pop),
	[NVTX_CBID_CORE2_DomainResourceCreate] = SLOT(create_resource),
	[NVTX_CBID_CORE2_DomainNameCategoryA] = SLOT(name_domain_category_a),
	[NVTX_CBID_CORE2_DomainNameCategoryW] = SLOT(name_domain_category_w),
	[NVTX_CBID_CORE2_DomainRegisterStringA] = SLOT(register_string_a),
	[NVTX_CBID_CORE2_DomainRegisterStringW] = SLOT(register_string_w),
	[NVTX_CBID_CORE2_DomainCreateA] = SLOT(domain_create_a),
	[NVTX_CBID_CORE2_DomainCreateW] = SLOT(domain_create_w),
};

static const NvtxFunctionPointer cuda[NVTX_CBID_CUDA_SIZE] = {
	[NVTX_CBID_CUDA_NameCuDeviceA] = SLOT(name_device_a),
	[NVTX_CBID_CUDA_NameCuDeviceW] = SLOT(name_device_w),
	[NVTX_CBID_CUDA_NameCuContextA] = SLOT(name_context_a),
	[NVTX_CBID_CUDA_NameCuContextW] = SLOT(name_context_w),
	[NVTX_CBID_CUDA_NameCuStreamA] = SLOT(name_stream_a),
	[NVTX_CBID_CUDA_NameCuStreamW] = SLOT(name_stream_w),
};

static const NvtxFunctionPointer cudart[NVTX_CBID_CUDART_SIZE] = {
	[NVTX_CBID_CUDART_NameCudaDeviceA] = SLOT(name_device_a),
	[NVTX_CBID_CUDART_NameCudaDeviceW] = SLOT(name_device_w),
	[NVTX_CBID_CUDART_NameCudaStreamA] = SLOT(name_stream_a),
	[NVTX_CBID_CUDART_NameCudaStreamW] = SLOT(name_stream_w),
};

static const struct {
	const NvtxFunctionPointer *functions;
	NvtxCallbackModule module;
	unsigned count;
} tables[] = {
	{core, NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_SIZE},
	{core2, NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_SIZE},
	{cuda, NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_SIZE},
	{cudart, NVTX_CB_MODULE_CUDART, NVTX_CBID_CUDART_SIZE},
};

/*
 * The object may have fewer functions than we know, or more.  Slots that we leave out become
 * no-ops.
 */
static void fill_table(const NvtxExportTableCallbacks *callbacks, size_t index)
{
	NvtxFunctionTable table = NULL;
	unsigned size = 0;

	if (!callbacks->GetModuleFunctionTable(tables[index].module, &table, &size) ||
	    table == NULL)
		return;
	for (unsigned i = 1; i < size && i < tables[index].count; i++)
		if (table[i] != NULL && tables[index].functions[i] != NULL)
			gp_store64_release((uint64_t *)(void *)table[i],
					   (uintptr_t)tables[index].functions[i]);
}

int gp_nvtx_initialize(NvtxGetExportTableFunc_t get_export_table)
{
	const NvtxExportTableCallbacks *callbacks = NULL;

	if (gp_ranges_are_enabled() && get_export_table != NULL)
		callbacks = get_export_table(NVTX_ETID_CALLBACKS);
	if (callbacks == NULL || callbacks->struct_size < sizeof(*callbacks))
		return 0; /* its functions become no-ops */
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		fill_table(callbacks, i);
	return 1;
}

bool gp_nvtx_announce(const char *library)
{
	const char *other = getenv(GP_INJECTION_NVTX);

	if (other == NULL)
		return setenv(GP_INJECTION_NVTX, library, 0) == 0;
	if (strcmp(other, library) != 0)
		strncpy(other_tool, other, sizeof(other_tool) - 1);
	return true;
}

const char *gp_nvtx_other_tool(void)
{
	return other_tool[0] != '\0' ? other_tool : NULL;
}
