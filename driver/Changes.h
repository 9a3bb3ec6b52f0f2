//===- Changes.h - Flags that lower what a program needs --------------------------------------===//

#ifndef MTC_DRIVER_CHANGES_H
#define MTC_DRIVER_CHANGES_H

#include "driver/Compilation.h"

#include <functional>

namespace mtc::tool {

/// A change of the options that the user has left open.
struct Change {
  std::string name;  ///< For `--allow`; "" where only the user may make it.
  std::string flags; ///< As one types them.
  std::function<void(Options &)> apply;
};

/// What `--allow` takes.
std::vector<OptionChoice> allowChoices();

/// Those that may lower the memory of a program, but for its batch. `compilation` has imported it.
std::vector<Change> findChanges(const Options &options, Compilation &compilation);

/// A batch of the same rows in so many parts, whose gradients are added up; none where the model
/// has no symbolic batch dimension of which they are equal parts.
std::optional<Change> findAccumulation(const Options &options, Compilation &compilation,
                                       int64_t parts);

/// Half of the batch; none as above.
std::optional<Change> findHalfBatch(Compilation &compilation);

} // namespace mtc::tool

#endif // MTC_DRIVER_CHANGES_H
