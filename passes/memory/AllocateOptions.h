//===- AllocateOptions.h - What mtc-allocate is told ------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_ALLOCATEOPTIONS_H
#define MTC_PASSES_MEMORY_ALLOCATEOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The options of mtc-allocate.
struct AllocateOptions {
  bool checkMemory = false;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(
        &AllocateOptions::checkMemory,
        {"check-memory", "",
         "make a program that checks after each operation that it has written its results alone, "
         "and that fills with NaN what nothing reads any more: for tests"});
  }
};

std::unique_ptr<mlir::Pass> createAllocate(const AllocateOptions &options);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ALLOCATEOPTIONS_H
