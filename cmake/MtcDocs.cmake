# Generates the reference of dialects, passes and targets from their records into docs/ of the build folder;
# tools/scripts/write_reference.py writes docs/reference/ from them.

add_custom_target(mtc-doc ALL)

function(mtc_add_doc page record)
  set(LLVM_TARGET_DEFINITIONS ${PROJECT_SOURCE_DIR}/${record})
  tablegen(MLIR docs/${page}.md ${ARGN})
  add_custom_target(mtc-doc-${page} DEPENDS docs/${page}.md)
  add_dependencies(mtc-doc mtc-doc-${page})
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
mtc_add_doc(dialect ir/ops/MtcOps.td -gen-dialect-doc -dialect=mtc)
mtc_add_doc(onnx-dialect frontend/onnx/dialect/OnnxOps.td -gen-dialect-doc -dialect=onnx)
mtc_add_doc(passes passes/Passes.td -gen-pass-doc)
mtc_add_doc(onnx-inference-passes frontend/onnx/inference/Passes.td -gen-pass-doc)
mtc_add_doc(onnx-exporters-passes frontend/onnx/exporters/Passes.td -gen-pass-doc)
mtc_add_doc(onnx-batching-passes frontend/batching/Passes.td -gen-pass-doc)
mtc_add_doc(onnx-conversion-passes frontend/onnx/convert/Passes.td -gen-pass-doc)
mtc_add_doc(codegen-passes codegen/passes/Passes.td -gen-pass-doc)
mtc_add_doc(cpu-target codegen/cpu/CpuDialect.td -gen-attrdef-doc -attrdefs-dialect=mtc_cpu)
mtc_add_doc(cuda-target codegen/cuda/CudaDialect.td -gen-attrdef-doc -attrdefs-dialect=mtc_cuda)
