# Archives that programs link: the runtime, and the parts of support/ that it shares with the compiler. These archives depend on neither
# MLIR nor LLVM.

# The runtime's own kernels are always compiled with full optimization. The linker drops functions that a program does not call.
set(MTC_RUNTIME_OPTIONS $<$<CONFIG:Release>:-O3> -ffunction-sections -fdata-sections)

# The precompiled header of the runtime's core, which is parsed once per architecture.
mtc_add_precompiled_header(mtc_runtime_pch cmake/mtc_runtime_pch.h LINK mtc_warnings nlohmann_json::nlohmann_json)
target_compile_options(mtc_runtime_pch PRIVATE ${MTC_RUNTIME_OPTIONS})
foreach(architecture ${MTC_CROSS_ARCHITECTURES})
  mtc_add_precompiled_header(mtc_runtime_pch_${architecture} cmake/mtc_runtime_pch.h
                             LINK mtc_warnings nlohmann_json::nlohmann_json)
  target_compile_options(mtc_runtime_pch_${architecture} PRIVATE --target=${architecture}-linux-gnu ${MTC_RUNTIME_OPTIONS})
endforeach()

# An archive. PORTABLE: programs for other architectures link NAME_ARCHITECTURE.
function(mtc_add_runtime_library name)
  cmake_parse_arguments(ARG "PORTABLE" "" "" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC mtc_warnings)
  target_compile_options(${name} PRIVATE ${MTC_RUNTIME_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM mtc_runtime_pch)
  if(NOT ARG_PORTABLE)
    return()
  endif()
  foreach(architecture ${MTC_CROSS_ARCHITECTURES})
    set(other ${name}_${architecture})
    add_library(${other} STATIC ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${other} PRIVATE mtc_warnings)
    target_compile_options(${other} PRIVATE --target=${architecture}-linux-gnu ${MTC_RUNTIME_OPTIONS})
    target_precompile_headers(${other} REUSE_FROM mtc_runtime_pch_${architecture})
    set_target_properties(${other} PROPERTIES
      OUTPUT_NAME ${name} ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${architecture})
  endforeach()
endfunction()
