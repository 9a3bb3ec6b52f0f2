//===- Problems.h - Collected errors about an input file --------------------------------------===//
//
// Readers do not stop at the first error. They collect messages, and the caller prints all of them
// at once.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_PROBLEMS_H
#define MTC_SUPPORT_COMPILER_PROBLEMS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc {

/// A list of one-line messages in the order in which they were added; each names its subject. The
/// first `limit` messages are stored, later ones are only counted.
class Problems {
public:
  static constexpr size_t limit = 100;

  void add(const llvm::Twine &message) {
    if (total++ < limit)
      messages.push_back(message.str());
  }
  void add(llvm::Error error) { add(llvm::toString(std::move(error))); }

  bool empty() const { return total == 0; }
  /// Returns the number of messages, including those that were not stored.
  size_t size() const { return total; }
  /// Returns the stored messages. If some were not stored, a last message reports their number.
  llvm::SmallVector<std::string> get() const;

private:
  llvm::SmallVector<std::string> messages;
  size_t total = 0;
};

/// Returns a name from a file in quotes, safe to print: control bytes are escaped, long names
/// truncated.
std::string quoted(llvm::StringRef name);

/// Returns an llvm::StringError with this text.
llvm::Error problem(const llvm::Twine &message);

} // namespace mtc

#endif // MTC_SUPPORT_COMPILER_PROBLEMS_H
