//===- OffloadOptions.h - Options of the offloading passes ------------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_OFFLOADOPTIONS_H
#define MTC_PASSES_OFFLOAD_OFFLOADOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-offload-variables and mtc-offload-activations.
struct OffloadOptions {
  std::vector<std::string> offload;
  int64_t budget = 0;       ///< Size limit of the arena in bytes; 0: unlimited.
  int64_t window = 8 << 20; ///< Bytes of a transfer slot.

  bool takes(llvm::StringRef what) const { return llvm::is_contained(offload, what); }
  bool takesNothing() const { return offload.empty() || takes("none"); }
  /// Whether only as much is offloaded as the budget requires.
  bool isAutomatic() const { return takes("auto"); }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&OffloadOptions::offload,
           {"offload",
            "KIND",
            "Offload tensors to disk (cpu) or host memory (cuda)",
            {{"none", "no offloading"},
             {"optimizer", "optimizer state and weight averages"},
             {"activations", "saved activations; with --memory only as many as needed"},
             {"parameters", "parameters, fetched before each use"},
             {"auto", "the fastest combination that meets --memory, or none"}}},
           [](const OffloadOptions &options) {
             const bool isAlone = options.takes("none") || options.takes("auto");
             return isAlone && options.offload.size() > 1 ? "none and auto cannot be combined" : "";
           });
    option(&OffloadOptions::budget,
           {"offload-budget", "", "Memory budget of the arena in bytes; 0: unlimited"});
    option(&OffloadOptions::window,
           {"offload-window", "bytes", "Bytes of one transfer window; four windows are allocated"},
           [](const OffloadOptions &options) {
             return options.window < 4096 || options.window % 4096 != 0
                        ? "expected a multiple of 4096"
                        : "";
           });
  }
};

std::unique_ptr<mlir::Pass> createOffloadVariables(const OffloadOptions &options);
std::unique_ptr<mlir::Pass> createOffloadActivations(const OffloadOptions &options);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_OFFLOADOPTIONS_H
