//===- MemoryTimeline.h - What lies where in the arena, and when ------------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYTIMELINE_H
#define MTC_PASSES_MEMORY_MEMORYTIMELINE_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mtc {

/// The device's arena of an allocated program while its steps run one after another: what the
/// steps' operations say of their results (step_c4 of `mtc.step`), variables, and inputs. The step
/// that only --gradients runs, whose arena has a size of its own, is left out.
struct MemoryTimeline {
  enum class Category { Parameter, Gradient, Optimizer, Activation, Workspace, Data };
  /// As in the plan's JSON.
  static llvm::StringRef nameOf(Category category);

  struct Lifetime {
    int64_t offset, bytes; ///< with its padding
    int64_t first, last;   ///< numbers of operations; of what is there always: the first and last
    Category category;
    std::string type;   ///< "f32[4, 256]"
    std::string name;   ///< the nodes that compute it, or the variable or the input that it is
    std::string reader; ///< the nodes that read it last; "" of what is there always
    std::string reason; ///< why it is kept
  };
  struct Step {
    std::string name;
    int64_t first, count; ///< operations
  };

  explicit MemoryTimeline(mlir::ModuleOp placed);

  /// Of the values that are alive at the peak, the largest first.
  std::vector<const Lifetime *> getAliveAtPeak() const;

  int64_t arenaBytes = 0;
  std::vector<Step> steps;
  std::vector<std::string> operations; ///< names of nodes
  std::vector<int64_t> live;           ///< bytes at each operation
  int64_t peak = 0;                    ///< the first operation at which the most is alive
  std::vector<Lifetime> lifetimes;     ///< of variables, inputs, then results of operations
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYTIMELINE_H
