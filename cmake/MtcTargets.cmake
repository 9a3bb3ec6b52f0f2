# Settings that all targets of the compiler share: flags, one precompiled header, generated files.

# Sanitizers for the whole build, as the value of -fsanitize (preset asan); empty if the build has none.
string(REGEX MATCH "-fsanitize=[^ ]+" MTC_SANITIZERS "${CMAKE_CXX_FLAGS}")
if(MTC_SANITIZERS)
  # The path is relative to Ninja's working directory, because an absolute path would differ between clones and prevent ccache hits.
  file(RELATIVE_PATH ignorelist ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignorelist.txt)
  add_compile_options(-fsanitize-ignorelist=${ignorelist})
  if(MTC_SANITIZERS MATCHES fuzzer)
    file(RELATIVE_PATH ignorelist ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/cmake/coverage_ignorelist.txt)
    add_compile_options(-fsanitize-coverage-ignorelist=${ignorelist})
  endif()
endif()

add_library(mtc_warnings INTERFACE)
target_compile_options(mtc_warnings INTERFACE -Wall -Wextra -Wno-unused-parameter $<$<BOOL:${MTC_WERROR}>:-Werror>)

add_library(mtc_flags INTERFACE)
target_compile_definitions(mtc_flags INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(mtc_flags INTERFACE mtc_warnings)

# Links LLVM and MLIR to an executable. Tools link the static libraries, because loading the dynamic ones takes 40 ms at each start. Tests
# link the dynamic libraries, because linking is faster.
add_library(mtc_llvm_dynamic INTERFACE)
target_link_libraries(mtc_llvm_dynamic INTERFACE MLIR LLVM) # libMLIR does not propagate its dependency on LLVM
add_library(mtc_llvm_static INTERFACE)
get_property(mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(library ${mlir_libraries})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_link_libraries(mtc_llvm_static INTERFACE $<TARGET_FILE:${library}>) # the target itself would link the dynamic LLVM
  endif()
endforeach()
llvm_map_components_to_libnames(llvm_libraries AllTargetsCodeGens AllTargetsAsmParsers Passes OrcJIT IRReader ObjCopy Option Linker CGData Plugins FrontendOpenMP FrontendOpenACC SupportLSP)
target_link_libraries(mtc_llvm_static INTERFACE ${llvm_libraries} $<TARGET_FILE:LLVMLTO> $<TARGET_FILE:LLVMDTLTO>) # targets would link Polly
target_link_options(mtc_llvm_static INTERFACE LINKER:--gc-sections LINKER:--as-needed)

# Precompiles a header, whose path is relative to this folder, for targets with the same flags: `target_precompile_headers(TARGET REUSE_FROM
# NAME)`. LINK: libraries whose flags apply. BASE: a precompiled header with equal flags, which the header includes first. Clang then parses
# and stores only the remaining headers.
function(mtc_add_precompiled_header name header)
  cmake_parse_arguments(ARG "" "BASE" "LINK" ${ARGN})
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "// Only here to build the precompiled header.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_precompile_headers(${name} PRIVATE <${header}>) # an absolute path would differ in each clone
  if(MTC_PCH_LAUNCHER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER ${MTC_PCH_LAUNCHER})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  set(precompiled ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx) # CMake's own file names
  set_target_properties(${name} PROPERTIES MTC_PRECOMPILED ${precompiled}.pch)
  if(ARG_BASE)
    get_target_property(base ${ARG_BASE} MTC_PRECOMPILED)
    set_source_files_properties(${precompiled}.cxx PROPERTIES COMPILE_OPTIONS "-Xclang;-include-pch;-Xclang;${base}" OBJECT_DEPENDS ${base})
  endif()
endfunction()

mtc_add_precompiled_header(mtc_pch cmake/mtc_pch.h LINK mtc_flags)
mtc_add_precompiled_header(mtc_codegen_pch cmake/mtc_codegen_pch.h BASE mtc_pch LINK mtc_flags)
foreach(header mtc_pch mtc_codegen_pch)
  add_dependencies(${header} MtcIRGenerated) # it includes the dialect's generated header
endforeach()

# Replaces the sources in the list `variable` by batches: generated files that each include up to MTC_BATCH_SIZE sources of one folder with
# the same using directives. A folder's only source joins the batch of the parent folder. A batch instantiates its templates and generates
# its inline functions once. ALONE: a regular expression of sources that are compiled separately, as generated ones always are. Unlike
# CMake's unity builds, batches name sources relative to the project, so that ccache finds them in all clones.
function(mtc_batch_sources variable)
  cmake_parse_arguments(ARG "" "ALONE" "" ${ARGN})
  if(NOT MTC_BATCH_SIZE GREATER 1)
    return()
  endif()
  set(results "")
  set(keys "")
  foreach(source ${${variable}})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} is_generated)
    if(is_generated OR (ARG_ALONE AND path MATCHES "${ARG_ALONE}"))
      list(APPEND results ${source})
    else()
      get_filename_component(folder ${path} DIRECTORY)
      file(STRINGS ${source} directives REGEX "^using namespace ")
      list(TRANSFORM directives REPLACE "using namespace (.+);" "\\1")
      list(JOIN directives "-" directives)
      string(MAKE_C_IDENTIFIER "${directives}" directives)
      list(APPEND keys ${folder}/${directives})
      list(APPEND sources_of_${folder}/${directives} ${path})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES keys)
  set(groups "")
  foreach(key ${keys})
    set(group ${key})
    list(LENGTH sources_of_${key} length)
    if(length EQUAL 1 AND key MATCHES "^(.+/)[^/]+/([^/]*)$")
      set(group ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    endif()
    list(APPEND groups ${group})
    list(APPEND group_${group} ${sources_of_${key}})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  file(RELATIVE_PATH target_folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(group ${groups})
    list(LENGTH group_${group} length)
    math(EXPR last "${length} - 1")
    foreach(first RANGE 0 ${last} ${MTC_BATCH_SIZE})
      list(SUBLIST group_${group} ${first} ${MTC_BATCH_SIZE} lines)
      list(TRANSFORM lines REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN lines "" text)
      set(file ${group}${first}.cpp)
      cmake_path(IS_PREFIX target_folder ${file} is_below)
      if(NOT is_below) # sources of another target
        set(file ${target_folder}/${file})
      endif()
      set(file ${PROJECT_BINARY_DIR}/batches/${file})
      get_property(written GLOBAL PROPERTY MTC_BATCHES)
      if(file IN_LIST written)
        message(FATAL_ERROR "Two targets of ${target_folder}/ batch sources of one folder, in ${file}. Exempt the sources of one after ALONE.")
      endif()
      set_property(GLOBAL APPEND PROPERTY MTC_BATCHES ${file})
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}")
      list(APPEND results ${file})
    endforeach()
  endforeach()
  set(${variable} ${results} PARENT_SCOPE)
endfunction()

# Adds a library of the compiler from every .cpp below this folder except those that match EXCLUDE, so that a new operator or pass is not
# added to any list. PRECOMPILED: the precompiled header (default: mtc_pch). BATCHED: compile the sources in batches, except those that
# match ALONE.
function(mtc_add_library name)
  cmake_parse_arguments(ARG "BATCHED" "PRECOMPILED;ALONE" "DEPENDS;LINK;EXCLUDE" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED mtc_pch)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp *.cc)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${ARG_EXCLUDE})
  endif()
  if(ARG_BATCHED)
    mtc_batch_sources(sources ALONE "${ARG_ALONE}")
  endif()
  add_library(${name} STATIC ${sources})
  target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  target_link_libraries(${name} PUBLIC mtc_flags ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Writes `output` into the build folder, with a line MTC_FILE(NAME) for each NAME.cpp in `folder`, except those named by EXCLUDE.
function(mtc_list_files output folder)
  cmake_parse_arguments(ARG "" "" "EXCLUDE" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${folder}/*.cpp)
  list(REMOVE_ITEM files ${ARG_EXCLUDE})
  list(TRANSFORM files REPLACE "(.*)\\.cpp$" "MTC_FILE(\\1)\n")
  list(JOIN files "" lines)
  file(CONFIGURE OUTPUT ${output} CONTENT "${lines}")
endfunction()

# Compiles an executable with -fPIC like the libraries, instead of -fPIE, so that it can use their precompiled header.
function(mtc_use_precompiled_header name header)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM ${header})
endfunction()

# Adds an executable of the compiler. Instrumented executables include AddressSanitizer's default options.
function(mtc_set_up_executable name header)
  mtc_use_precompiled_header(${name} ${header})
  if(MTC_SANITIZERS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/asan_options.cpp)
  endif()
endfunction()

# Adds a tool of the compiler, from SOURCES (default: every .cpp in this folder). PRECOMPILED: the precompiled header (default: mtc_pch).
function(mtc_add_tool name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED mtc_pch)
  endif()
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  mtc_set_up_executable(${name} ${ARG_PRECOMPILED})
  if(MTC_SANITIZERS) # sanitizers have their own allocator
    target_link_libraries(${name} PRIVATE mtc_flags ${ARG_LINK} mtc_llvm_dynamic)
  else()
    target_link_libraries(${name} PRIVATE -Wl,--push-state,--no-as-needed mimalloc -Wl,--pop-state
                                          mtc_flags ${ARG_LINK} mtc_llvm_static)
  endif()
  target_link_options(${name} PRIVATE LINKER:--build-id) # identifies the compiler in the kernel cache
endfunction()
