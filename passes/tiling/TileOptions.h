//===- TileOptions.h - Options of mtc-tile ----------------------------------------------------===//

#ifndef MTC_PASSES_TILING_TILEOPTIONS_H
#define MTC_PASSES_TILING_TILEOPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-tile.
struct TileOptions {
  TileMode tile = TileMode::Auto;

  static llvm::StringRef describe(TileMode mode) {
    switch (mode) {
    case TileMode::None:
      return "no tiling";
    case TileMode::Auto:
      return "only as needed to meet --memory, cheapest first";
    case TileMode::All:
      return "every tiling that lowers the peak at a reasonable cost";
    }
    llvm_unreachable("all modes are handled");
  }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&TileOptions::tile, {"tile", "MODE", "Compute large values, such as logits, in tiles",
                                choicesOf<TileMode>(describe)});
  }
};

std::unique_ptr<mlir::Pass> createTile(const TileOptions &options);

} // namespace mtc

#endif // MTC_PASSES_TILING_TILEOPTIONS_H
