/* version: of gpuprof, as both sides say it. */
#ifndef GPUPROF_VERSION_H
#define GPUPROF_VERSION_H

#define GP_VERSION "0.1.0"

#endif
