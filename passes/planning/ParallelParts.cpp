//===- ParallelParts.cpp - Parallel work on modules of one context ----------------------------===//

#include "passes/planning/ParallelParts.h"

#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace mtc;

/// The messages of the part that this thread works on. A thread may begin a part while it waits for
/// passes of another one, so that MLIR's handler of parallel diagnostics cannot tell them apart.
static thread_local std::vector<Diagnostic> *messagesOfPart = nullptr;

void mtc::runInParallel(MLIRContext &context, size_t count,
                        llvm::function_ref<std::vector<Diagnostic> &(size_t)> messagesOf,
                        llvm::function_ref<void(size_t)> run) {
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &message) {
    if (!messagesOfPart)
      return failure();
    messagesOfPart->push_back(std::move(message));
    return success();
  });
  auto runPart = [&](size_t i) {
    const llvm::SaveAndRestore current(messagesOfPart, &messagesOf(i));
    run(i);
  };
  if (count < 2 || !context.isMultithreadingEnabled()) {
    for (size_t i = 0; i < count; ++i)
      runPart(i);
    return;
  }
  llvm::ThreadPoolTaskGroup group(context.getThreadPool());
  for (size_t i = 0; i < count; ++i)
    group.async([&, i] { runPart(i); });
  group.wait();
}
