# The start-up files and system libraries that mtc links into programs, so that machines on which mtc runs need no compiler. Like the
# runtime's archives, they are in build/lib, in the folder `system`; those of other architectures are in build/lib/ARCHITECTURE/system.

set(written)
function(mtc_copy_system_files folder)
  set(stamp ${PROJECT_BINARY_DIR}/${folder}.stamp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/copy_system_files.py)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${Python3_EXECUTABLE} ${script} ${PROJECT_BINARY_DIR}/${folder} ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${script} VERBATIM)
  set(written ${written} ${stamp} PARENT_SCOPE)
endfunction()

mtc_copy_system_files(lib/system ${CMAKE_CXX_COMPILER} --ar ${CMAKE_AR} --shared
  libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 ld-linux-x86-64.so.2 libgomp.so.1 libdnnl.so libmpi.so)
foreach(architecture ${MTC_CROSS_ARCHITECTURES}) # programs for other architectures are static
  mtc_copy_system_files(lib/${architecture}/system ${CMAKE_CXX_COMPILER} --target=${architecture}-linux-gnu --ar ${CMAKE_AR})
endforeach()
add_custom_target(mtc_system_files DEPENDS ${written})
add_dependencies(mtc_program_archives mtc_system_files)
