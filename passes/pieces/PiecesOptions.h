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
    option(
        &PiecesOptions::pieces,
        {"pieces",
         "choice",
         "compute large values in pieces, so as not to keep them whole: logits with their loss and "
         "gradients, the middle of a layer",
         {{"none", "every value as a whole"},
          {"auto", "where --memory asks for it, what costs the least time"},
          {"all", "all that lowers the peak, but for the last bytes, which take the most time"}}});
  }
};

std::unique_ptr<mlir::Pass> createPieces(const PiecesOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PIECES_PIECESOPTIONS_H
