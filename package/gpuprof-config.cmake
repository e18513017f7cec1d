# gpuprof::gpuprof      the header of the C API; it links with nothing
# gpuprof::library      libgpuprof.so, for LD_PRELOAD
# gpuprof::gpuprof-run  the launcher, for tests
get_filename_component(_gpuprof_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET gpuprof::gpuprof)
  add_library(gpuprof::gpuprof INTERFACE IMPORTED)
  set_target_properties(gpuprof::gpuprof PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_gpuprof_prefix}/include")
  add_library(gpuprof::library MODULE IMPORTED)
  set_target_properties(gpuprof::library PROPERTIES
    IMPORTED_LOCATION "${_gpuprof_prefix}/lib/libgpuprof.so")
  add_executable(gpuprof::gpuprof-run IMPORTED)
  set_target_properties(gpuprof::gpuprof-run PROPERTIES
    IMPORTED_LOCATION "${_gpuprof_prefix}/bin/gpuprof-run")
endif()
