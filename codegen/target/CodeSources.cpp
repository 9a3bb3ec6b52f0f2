//===- CodeSources.cpp - What of a program code is generated for ------------------------------===//

#include "codegen/target/CodeSources.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mtc;

CodeSources CodeSources::of(ModuleOp placed) {
  CodeSources sources{placed.getContext(), {}, {}};
  llvm::append_range(sources.kernels, placed.getOps<KernelFunctionOp>());
  llvm::StringSet<> known;
  placed.walk([&](PlacedCallOpInterface op) {
    CallDescription call = describeCall(op);
    if (known.insert(call.key()).second)
      sources.calls.push_back(std::move(call));
  });
  return sources;
}
