#include "report/model.h"

#include <stdlib.h>

#include "report/api_table.h"

static void free_texts(char **texts, uint32_t count)
{
	for (uint32_t i = 0; texts && i < count; i++)
		free(texts[i]);
	free(texts);
}

void gp_model_free(struct gp_model *m)
{
	if (!m)
		return;
	free(m->path);
	for (size_t i = 0; i < GP_INFO_LIMIT; i++)
		free(m->info[i]);
	free_texts(m->notes, m->note_count);
	free_texts(m->names, m->name_count);
	free_texts(m->device_names, m->device_count);
	for (uint32_t i = 0; i < m->thread_count; i++)
		free((char *)m->threads[i].name);
	free(m->calls);
	free(m->ops);
	free(m->memory);
	free(m->overheads);
	free(m->shapes);
	free(m->devices);
	free(m->contexts);
	free(m->streams);
	free(m->threads);
	free(m->usages);
	free(m->syncs);
	free(m->events);
	free(m->nodes);
	free(m->jits);
	free(m->pools);
	free(m->unifieds);
	free(m->gates);
	if (m->private)
		gp_api_table_clear(m->private);
	free(m->private);
	free(m);
}

struct gp_api gp_model_api(const struct gp_model *model, uint16_t api)
{
	struct gp_api_entry found = gp_api_table_find(model->private, api);

	return (struct gp_api){found.name ? found.name : "(unknown call)", found.class};
}

const char *gp_model_kernel_name(const struct gp_model *model, const struct gp_op *op)
{
	return op->name < model->name_count ? model->names[op->name] : "(unknown kernel)";
}

const struct gp_record_device *gp_model_device(const struct gp_model *model, uint16_t device_id)
{
	for (uint32_t i = 0; i < model->device_count; i++)
		if (model->devices[i].device_id == device_id)
			return &model->devices[i];
	return NULL;
}
