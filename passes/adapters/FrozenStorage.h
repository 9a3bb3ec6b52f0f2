//===- FrozenStorage.h - Options for the storage of frozen matrices ---------------------------===//

#ifndef MTC_PASSES_ADAPTERS_FROZENSTORAGE_H
#define MTC_PASSES_ADAPTERS_FROZENSTORAGE_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-store-frozen.
struct FrozenStorageOptions {
  int64_t bits = 32;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&FrozenStorageOptions::bits,
           {"frozen-bits",
            "BITS",
            "Store frozen f32 matrices in 32, 16 or 4 bits",
            {{"32", "f32"},
             {"16", "bf16"},
             {"4", "NF4 in blocks of 64, as bitsandbytes; bf16 if other nodes use them"}}});
  }
};

std::unique_ptr<mlir::Pass> createStoreFrozen(const FrozenStorageOptions &options);

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_FROZENSTORAGE_H
