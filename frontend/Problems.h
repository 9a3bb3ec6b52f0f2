//===- Problems.h - What is wrong with a file, collected --------------------------------------===//
//
// Readers do not stop at the first problem: they collect, and the caller prints everything at once.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_PROBLEMS_H
#define MTC_FRONTEND_PROBLEMS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::onnx {

/// Messages in the order in which they were found, each one line that names what it is about. The
/// first `limit` are kept, the rest counted.
class Problems {
public:
  static constexpr size_t limit = 100;

  void add(const llvm::Twine &message) {
    if (total++ < limit)
      messages.push_back(message.str());
  }
  void add(llvm::Error error) { add(llvm::toString(std::move(error))); }

  bool empty() const { return total == 0; }
  /// How many there are, those that were left out included.
  size_t size() const { return total; }
  /// The messages; the last says how many were left out, if any.
  llvm::SmallVector<std::string> get() const;

private:
  llvm::SmallVector<std::string> messages;
  size_t total = 0;
};

/// A name from a file in quotes, safe to print: control bytes escaped, long names cut.
std::string quoted(llvm::StringRef name);

/// Shorthand for an error of this text.
llvm::Error problem(const llvm::Twine &message);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PROBLEMS_H
