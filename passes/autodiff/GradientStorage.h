//===- GradientStorage.h - Options for the storage of accumulated gradients -------------------===//

#ifndef MTC_PASSES_AUTODIFF_GRADIENTSTORAGE_H
#define MTC_PASSES_AUTODIFF_GRADIENTSTORAGE_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-store-gradients.
struct GradientStorageOptions {
  int64_t bits = 32;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&GradientStorageOptions::bits,
           {.name = "gradient-bits",
            .valueName = "BITS",
            .help = "Bits of an element of accumulated gradients",
            .choices = {{"32", "f32"}, {"16", "bf16"}},
            .detail = "16 needs --accumulate. A micro-step adds to a gradient in f32 and rounds "
                      "the sum once. The update computes in f32."});
  }
};

std::unique_ptr<mlir::Pass> createStoreGradients(const GradientStorageOptions &options);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_GRADIENTSTORAGE_H
