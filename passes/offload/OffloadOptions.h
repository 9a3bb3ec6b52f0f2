//===- OffloadOptions.h - Options of the offloading passes ------------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_OFFLOADOPTIONS_H
#define MTC_PASSES_OFFLOAD_OFFLOADOPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

#include <algorithm>
#include <array>

namespace mtc {

/// Kinds of tensors that can be offloaded.
enum class OffloadKind {
  Optimizer,
  Update, ///< Optimizer state that the host updates while the device computes.
  Activations,
  Parameters,
  Gradients
};
inline constexpr std::array offloadKinds = {OffloadKind::Optimizer, OffloadKind::Update,
                                            OffloadKind::Activations, OffloadKind::Parameters,
                                            OffloadKind::Gradients};

enum class OffloadUse {
  Off,
  On,        ///< All tensors of the kind or, with a memory budget, as many as needed.
  Automatic, ///< As many as the search for a plan within the memory budget chooses.
};

/// The use of each kind of offloading.
class OffloadUses {
public:
  OffloadUses() { uses.fill(OffloadUse::Off); }

  OffloadUse &operator[](OffloadKind kind) { return uses[static_cast<size_t>(kind)]; }
  OffloadUse operator[](OffloadKind kind) const { return uses[static_cast<size_t>(kind)]; }
  bool has(OffloadUse use) const { return llvm::is_contained(uses, use); }
  bool isOff() const { return llvm::all_equal(uses) && uses.front() == OffloadUse::Off; }
  /// Returns whether variables may leave the device.
  bool mayMoveVariables() const {
    return llvm::any_of(offloadKinds, [&](OffloadKind kind) {
      return kind != OffloadKind::Activations && (*this)[kind] != OffloadUse::Off;
    });
  }

private:
  std::array<OffloadUse, offloadKinds.size()> uses;
};

/// Options of all passes that offload tensors.
struct OffloadOptions {
  std::vector<std::string> offload;
  std::vector<std::string> without; ///< Kinds that `offload` does not mean.
  std::optional<int64_t> window;    ///< Bytes of a transfer slot.

  /// Returns the use of each kind on a target that offloads to `space`. If the option is not set,
  /// offloading to host memory is automatic, and nothing is offloaded to disk.
  OffloadUses getUses(MemorySpace space) const;
  bool isSet() const { return !offload.empty(); }
  /// Returns the bytes of a transfer slot. Four slots are at most 1/1024 of a large budget: the
  /// operations of a step are as many as its windows.
  int64_t getWindow(std::optional<int64_t> budget) const {
    constexpr int64_t mebibyte = 1 << 20;
    return window.value_or(mebibyte *
                           std::clamp<int64_t>(budget.value_or(0) / 4096 / mebibyte, 8, 32));
  }
  /// Returns the value of `offload` for a kind.
  static llvm::StringRef nameOf(OffloadKind kind);
  /// Disables a kind, independently of `offload`.
  void disable(OffloadKind kind);

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&OffloadOptions::offload,
           {.name = "offload",
            .valueName = "KIND",
            .help = "Offload tensors to host memory (cuda) or disk",
            .choices = getChoices(),
            .detail = "Without this flag: auto with --target cuda and --memory, none with cpu.",
            .defaultText = "by target"},
           [](const OffloadOptions &options) { return options.check(); });
    option(&OffloadOptions::without, {.name = "offload-without",
                                      .valueName = "KIND",
                                      .help = "Kinds that --offload does not mean",
                                      .choices = getKindChoices(),
                                      .isOfPass = true});
    option(&OffloadOptions::window,
           {"offload-window", "bytes", "Bytes of one transfer window; four windows are allocated"},
           [](const OffloadOptions &options) {
             const int64_t window = options.getWindow(std::nullopt);
             return window < 4096 || window % 4096 != 0 ? "expected a multiple of 4096" : "";
           });
  }

private:
  static std::vector<OptionChoice> getChoices();
  static std::vector<OptionChoice> getKindChoices();
  std::string check() const;
};

/// Options of mtc-offload-variables and mtc-offload-activations, which apply explicit choices.
struct OffloadPassOptions {
  OffloadOptions choice;
  std::optional<int64_t> budget; ///< Size limit of the arena in bytes.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&OffloadPassOptions::choice, option);
    option(&OffloadPassOptions::budget,
           {"offload-budget", "", "Memory budget of the arena in bytes"});
  }
};

std::unique_ptr<mlir::Pass> createOffloadVariables(const OffloadPassOptions &options);
std::unique_ptr<mlir::Pass> createOffloadActivations(const OffloadPassOptions &options);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_OFFLOADOPTIONS_H
