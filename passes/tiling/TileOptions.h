//===- TileOptions.h - Options of mtc-tile ----------------------------------------------------===//

#ifndef MTC_PASSES_TILING_TILEOPTIONS_H
#define MTC_PASSES_TILING_TILEOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-tile.
struct TileOptions {
  std::string tile = "auto";

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&TileOptions::tile,
           {"tile",
            "MODE",
            "Compute large values, such as logits, in tiles",
            {{"none", "no tiling"},
             {"auto", "only as needed to meet --memory, cheapest first"},
             {"all", "every tiling that lowers the peak at a reasonable cost"}}});
  }
};

std::unique_ptr<mlir::Pass> createTile(const TileOptions &options);

} // namespace mtc

#endif // MTC_PASSES_TILING_TILEOPTIONS_H
