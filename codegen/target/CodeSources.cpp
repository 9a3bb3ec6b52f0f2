//===- CodeSources.cpp - What of a program code is generated for ------------------------------===//

#include "codegen/target/CodeSources.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

CodeSources CodeSources::of(ModuleOp placed) {
  CodeSources sources{placed.getContext(), {}, {}};
  llvm::append_range(sources.kernels, placed.getOps<KernelFunctionOp>());
  llvm::SetVector<CallAttrInterface> calls;
  placed.walk([&](CallOp op) { calls.insert(op.getCall()); });
  sources.calls = calls.takeVector();
  return sources;
}
