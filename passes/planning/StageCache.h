//===- StageCache.h - Lowered modules of one model --------------------------------------------===//

#ifndef MTC_PASSES_PLANNING_STAGECACHE_H
#define MTC_PASSES_PLANNING_STAGECACHE_H

#include "passes/planning/PlanSource.h"

#include "mlir/IR/Diagnostics.h"

#include <map>

namespace mtc {

/// The modules of one model at the stages before allocation. Settings that first differ at a later
/// stage share the modules of the stages before.
class StageCache {
public:
  /// A lowered module, with the messages of the passes that led to it.
  struct Lowered {
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< Null if the lowering failed.
    std::vector<mlir::Diagnostic> messages;
  };
  /// Settings to lower the model with, and the last stage of interest, at most kernels.
  struct Request {
    PlanSettings settings;
    Stage last;
  };

  /// `given` are the settings of the imported model.
  StageCache(PlanSource &source, PlanSettings given);
  StageCache(const StageCache &) = delete;
  StageCache &operator=(const StageCache &) = delete;
  ~StageCache();

  /// Returns the settings that decide the passes up to a stage before allocation, as text.
  static std::string keyOf(Stage stage, const PlanSettings &settings);

  /// Returns the module at a stage before allocation, which remains valid until `clear`.
  Lowered &lowerTo(Stage stage, const PlanSettings &settings);
  /// Lowers the model for each request, on several threads. Settings that are not reached before
  /// the time limit are lowered later by `lowerTo`.
  void lowerAll(llvm::ArrayRef<Request> requests, llvm::function_ref<bool()> isTimeUp);
  /// Lowers the model to the stages that several of the settings share.
  void lowerShared(llvm::ArrayRef<const PlanSettings *> all);

  bool contains(Stage stage, llvm::StringRef key) const {
    return modules.contains({stage, key.str()});
  }
  /// Returns the last stage before allocation that has been lowered with the settings, or the first
  /// stage.
  Stage findReached(const PlanSettings &settings) const;
  /// Adds a module that was lowered elsewhere, unless the cache has it.
  void add(Stage stage, std::string key, Lowered lowered) {
    modules.try_emplace({stage, std::move(key)}, std::move(lowered));
  }
  void clear() { modules.clear(); }

private:
  PlanSource &source;
  PlanSettings given;
  std::map<std::pair<Stage, std::string>, Lowered> modules; ///< By stage and key.
};

/// Returns the stage after another one, which must not be the last.
inline Stage nextStage(Stage stage) { return static_cast<Stage>(static_cast<unsigned>(stage) + 1); }
/// Returns the stage before another one, which must not be the first.
inline Stage previousStage(Stage stage) {
  return static_cast<Stage>(static_cast<unsigned>(stage) - 1);
}

} // namespace mtc

#endif // MTC_PASSES_PLANNING_STAGECACHE_H
