# Finds mtc's dependencies; tools/setup.sh installs them on Debian 12.

find_package(MLIR 22.1 REQUIRED CONFIG)
set(MLIR_LINK_MLIR_DYLIB ON) # Debian's package does not set this variable; without it, each library would be linked statically.
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# lld, which links programs, is a part of mtc.
find_library(MTC_LLD_ELF lldELF PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_library(MTC_LLD_COMMON lldCommon PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
set(MTC_LLD_LIBRARIES ${MTC_LLD_ELF} ${MTC_LLD_COMMON} z zstd)

find_package(Protobuf REQUIRED)
find_package(mimalloc REQUIRED CONFIG)

# dnnl's own CMake package requires OpenCL's headers, which mtc does not need.
find_path(DNNL_INCLUDE_DIR dnnl.h REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(dnnl::dnnl INTERFACE IMPORTED)
set_target_properties(dnnl::dnnl PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR}
                                            INTERFACE_LINK_LIBRARIES ${DNNL_LIBRARY})

# MPI is the transport of programs with several ranks. MPI::MPI_CXX would link the C++ bindings, which MPI 3 removed.
find_package(MPI REQUIRED COMPONENTS C)
add_library(mpi::mpi INTERFACE IMPORTED)
set_target_properties(mpi::mpi PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${MPI_C_INCLUDE_DIRS}"
                                          INTERFACE_INCLUDE_DIRECTORIES "${MPI_C_INCLUDE_DIRS}"
                                          INTERFACE_COMPILE_DEFINITIONS "OMPI_SKIP_MPICXX=1;MPICH_SKIP_MPICXX=1")

find_package(nlohmann_json REQUIRED CONFIG)
find_package(tomlplusplus REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED CONFIG)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# mlir_tablegen reads include directories from the folder, not from targets.
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# Static libraries that programs contain: zlib (`.npz`), libjpeg-turbo and libpng (images).
set(MTC_PROGRAM_LIBRARY_NAMES libz.a libjpeg.a libpng16.a)
set(MTC_PROGRAM_LIBRARIES "")
foreach(name ${MTC_PROGRAM_LIBRARY_NAMES})
  find_library(MTC_ARCHIVE_${name} ${name} REQUIRED)
  list(APPEND MTC_PROGRAM_LIBRARIES ${MTC_ARCHIVE_${name}})
endforeach()

# Programs can be cross-compiled for an architecture if its C++ library is installed, and the static libraries are in build/ARCHITECTURE
# (tools/setup.sh installs all of them). Builds with sanitizers do not cross-compile, because they would need LLVM's sanitizers for the
# other architecture.
set(MTC_CROSS_ARCHITECTURES "")
foreach(architecture aarch64)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --target=${architecture}-linux-gnu -print-file-name=libstdc++.a
                  OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(MTC_CROSS_FOLDER_${architecture} ${PROJECT_SOURCE_DIR}/build/${architecture})
  set(MTC_PROGRAM_LIBRARIES_${architecture} ${MTC_PROGRAM_LIBRARY_NAMES})
  list(TRANSFORM MTC_PROGRAM_LIBRARIES_${architecture} PREPEND ${MTC_CROSS_FOLDER_${architecture}}/)
  set(missing "")
  foreach(file ${library} ${MTC_PROGRAM_LIBRARIES_${architecture}} ${MTC_CROSS_FOLDER_${architecture}}/jconfig.h)
    if(NOT IS_ABSOLUTE "${file}" OR NOT EXISTS "${file}")
      list(APPEND missing ${file})
    endif()
  endforeach()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    message(STATUS "Programs for ${architecture} cannot be linked by an instrumented build")
  elseif(missing)
    message(STATUS "Programs for ${architecture} cannot be linked without ${missing}")
  else()
    list(APPEND MTC_CROSS_ARCHITECTURES ${architecture})
  endif()
endforeach()
