# ONNX's schema (onnx.proto) from the pinned onnx package, and the C++ code that protoc generates from it. The rest of the package is not
# used. -DMTC_ONNX_PROTO=FILE selects another copy of the same version.

set(MTC_ONNX_VERSION 1.22.0)
set(MTC_ONNX_PROTO_SHA256 f5996bda8d5c46d29e9ea5dd5f56465dfa7e98c22cb31529ebcbce7cbe9bbaba)
set(MTC_ONNX_PROTO "" CACHE FILEPATH "onnx-ml.proto of onnx ${MTC_ONNX_VERSION}; empty: download the package")
set(onnx_proto_folder ${PROJECT_BINARY_DIR}/onnx_proto)
set(onnx_proto ${onnx_proto_folder}/onnx-ml.proto)

if(MTC_ONNX_PROTO)
  configure_file(${MTC_ONNX_PROTO} ${onnx_proto} COPYONLY)
elseif(NOT EXISTS ${onnx_proto})
  message(STATUS "Fetching the schema of ONNX ${MTC_ONNX_VERSION}")
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -m pip download --quiet --no-deps --only-binary=:all:
            --dest ${onnx_proto_folder} onnx==${MTC_ONNX_VERSION}
    RESULT_VARIABLE status ERROR_VARIABLE message)
  if(status)
    message(FATAL_ERROR "pip could not download onnx ${MTC_ONNX_VERSION}; give -DMTC_ONNX_PROTO=FILE: ${message}")
  endif()
  file(GLOB wheel ${onnx_proto_folder}/onnx-${MTC_ONNX_VERSION}-*.whl)
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${onnx_proto_folder} PATTERNS onnx/onnx-ml.proto)
  file(RENAME ${onnx_proto_folder}/onnx/onnx-ml.proto ${onnx_proto})
  file(REMOVE ${wheel})
endif()

file(SHA256 ${onnx_proto} digest)
if(NOT digest STREQUAL MTC_ONNX_PROTO_SHA256)
  message(FATAL_ERROR "${onnx_proto} is not the schema of ONNX ${MTC_ONNX_VERSION}: remove it and configure again")
endif()

add_custom_command(
  OUTPUT ${onnx_proto_folder}/onnx-ml.pb.cc ${onnx_proto_folder}/onnx-ml.pb.h
  COMMAND protobuf::protoc --cpp_out=${onnx_proto_folder} -I${onnx_proto_folder} ${onnx_proto}
  DEPENDS ${onnx_proto})
add_library(mtc_onnx_proto STATIC ${onnx_proto_folder}/onnx-ml.pb.cc)
target_include_directories(mtc_onnx_proto SYSTEM PUBLIC ${onnx_proto_folder})
target_link_libraries(mtc_onnx_proto PUBLIC protobuf::libprotobuf)
