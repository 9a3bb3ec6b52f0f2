//===- AllocateOptions.h - Options of mtc-allocate --------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_ALLOCATEOPTIONS_H
#define MTC_PASSES_MEMORY_ALLOCATEOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-allocate.
struct AllocateOptions {
  bool checkMemory = false;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&AllocateOptions::checkMemory,
           {.name = "check-memory",
            .valueName = "",
            .help = "Check every access to the arena while the program runs",
            .detail =
                "After each operation the program verifies that only its results were written, "
                "and fills dead values with NaN. For tests: slow, with a larger arena."});
  }
};

std::unique_ptr<mlir::Pass> createAllocate(const AllocateOptions &options);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ALLOCATEOPTIONS_H
