//===- FrozenStorage.h - How frozen matrices are stored ---------------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_FROZENSTORAGE_H
#define MTC_PASSES_ADAPTERS_FROZENSTORAGE_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The options of mtc-store-frozen.
struct FrozenStorageOptions {
  std::string bits = "32";

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&FrozenStorageOptions::bits,
           {"frozen-bits",
            "bits",
            "store frozen matrices of f32 in fewer bits",
            {{"32", "as they are"},
             {"16", "bf16"},
             {"4", "blocks of 64 NF4 codes and a scale, as bitsandbytes makes them; only what "
                   "products alone read"}}});
  }
};

std::unique_ptr<mlir::Pass> createStoreFrozen(const FrozenStorageOptions &options);

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_FROZENSTORAGE_H
