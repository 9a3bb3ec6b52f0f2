# Finds mtc's dependencies; tools/setup.sh installs them on Debian 12.

find_package(MLIR 22.1 REQUIRED CONFIG)
set(MLIR_LINK_MLIR_DYLIB ON) # Debian's package does not set this variable; without it, each library would be linked statically.
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

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

# Programs can be cross-compiled for an architecture if its C++ library is installed, and protobuf and zlib are in build/ARCHITECTURE
# (tools/setup.sh installs all of them). Builds with sanitizers do not cross-compile, because they would need LLVM's sanitizers for the
# other architecture.
set(MTC_CROSS_ARCHITECTURES "")
foreach(architecture aarch64)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --target=${architecture}-linux-gnu -print-file-name=libstdc++.a
                  OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_library(MTC_PROTOBUF_ARCHIVE_${architecture} libprotobuf-lite.a
               PATHS ${PROJECT_SOURCE_DIR}/build/${architecture} NO_DEFAULT_PATH)
  find_library(MTC_ZLIB_ARCHIVE_${architecture} libz.a PATHS ${PROJECT_SOURCE_DIR}/build/${architecture} NO_DEFAULT_PATH)
  if(IS_ABSOLUTE "${library}" AND MTC_PROTOBUF_ARCHIVE_${architecture} AND MTC_ZLIB_ARCHIVE_${architecture} AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    list(APPEND MTC_CROSS_ARCHITECTURES ${architecture})
  else()
    message(STATUS "Programs for ${architecture} cannot be linked: no C++ library, protobuf or zlib, or an instrumented build")
  endif()
endforeach()
