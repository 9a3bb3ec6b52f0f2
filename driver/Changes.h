//===- Changes.h - Changes of flags that reduce memory ----------------------------------------===//

#ifndef MTC_DRIVER_CHANGES_H
#define MTC_DRIVER_CHANGES_H

#include "driver/Compilation.h"

#include <functional>

namespace mtc::tool {

/// A change to options that the user has not set.
struct Change {
  std::string name;  ///< For `--allow`; "" if only the user may make the change.
  std::string flags; ///< In command-line syntax.
  std::function<void(Options &)> apply;
};

/// Returns the choices of `--allow`.
std::vector<OptionChoice> allowChoices();

/// Returns the changes that may reduce the memory of a program without changing its batch.
/// `compilation` must have imported the model.
std::vector<Change> findChanges(const Options &options, Compilation &compilation);

/// Returns the change that splits the batch into `parts` micro-batches with accumulated gradients,
/// or nothing if the model has no symbolic batch dimension that is divisible by `parts`.
std::optional<Change> findAccumulation(const Options &options, Compilation &compilation,
                                       int64_t parts);

/// Returns the change that halves the batch, or nothing if there is no such batch dimension.
std::optional<Change> findHalfBatch(Compilation &compilation);

} // namespace mtc::tool

#endif // MTC_DRIVER_CHANGES_H
