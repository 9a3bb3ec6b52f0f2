//===- MemoryTimeline.h - Live ranges and offsets in the device arena -------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYTIMELINE_H
#define MTC_PASSES_MEMORY_MEMORYTIMELINE_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Allocator.h"

#include <string>
#include <vector>

namespace mtc {

/// Live ranges and offsets of all values in the device arena of an allocated program whose steps
/// run one after another: operation results (step_c4 of `mtc.step`), variables and inputs. The
/// steps of `--gradients` and `--outputs` runs, whose arena is sized separately, are excluded.
struct MemoryTimeline {
  /// Values of the backward pass are gradients of parameters if an update uses them, and gradients
  /// of activations otherwise.
  enum class Category {
    Parameter,
    Gradient,
    Optimizer,
    Activation,
    Workspace,
    Data,
    ActivationGradient
  };
  /// Returns the category's name in the plan's JSON.
  static llvm::StringRef nameOf(Category category);

  struct Lifetime {
    int64_t offset, bytes; ///< padding included
    /// First and last operation index; the whole range for variables and inputs.
    int64_t first, last;
    Category category;
    llvm::StringRef type;   ///< "f32[4, 256]"
    llvm::StringRef name;   ///< nodes that compute the value, or name of the variable or input
    llvm::StringRef user;   ///< nodes of the last user; empty for variables and inputs
    llvm::StringRef reason; ///< why the value is stored
  };
  struct Step {
    std::string name;
    int64_t first, count; ///< operation indices
  };

  /// A part of a step: its forward pass, its backward pass with updates that are fused into it, its
  /// update, or the evaluation.
  struct Phase {
    std::string name;
    int64_t first, count; ///< operation indices
  };

  explicit MemoryTimeline(mlir::ModuleOp placed);

  /// Returns the values that are live at the peak, by decreasing size.
  std::vector<const Lifetime *> getAliveAtPeak() const;

  int64_t arenaBytes = 0;
  std::vector<Step> steps;
  std::vector<Phase> phases;
  std::vector<llvm::StringRef> operations; ///< node names
  std::vector<int64_t> live;               ///< live bytes at each operation
  int64_t peak = 0;                ///< first operation with the maximum number of live bytes
  std::vector<Lifetime> lifetimes; ///< variables, then inputs, then operation results

  /// Stores the texts, which operations and values share: a step with offloaded state has hundreds
  /// of thousands of copies.
  llvm::BumpPtrAllocator texts;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYTIMELINE_H
