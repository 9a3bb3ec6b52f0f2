//===- PiecesOptions.h - What mtc-pieces is told ----------------------------------------------===//

#ifndef MTC_PASSES_PIECES_PIECESOPTIONS_H
#define MTC_PASSES_PIECES_PIECESOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The options of mtc-pieces.
struct PiecesOptions {
  std::string pieces = "auto";

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&PiecesOptions::pieces,
           {"pieces",
            "MODE",
            "Compute large values, such as logits, in tiles",
            {{"none", "no tiling"},
             {"auto", "only as needed to meet --memory, cheapest first"},
             {"all", "every tiling that lowers the peak at a reasonable cost"}}});
  }
};

std::unique_ptr<mlir::Pass> createPieces(const PiecesOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PIECES_PIECESOPTIONS_H
