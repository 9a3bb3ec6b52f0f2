//===- Problems.h - What is wrong with a model, all at once
//-------------------------------------===//

#ifndef MTC_FRONTEND_READER_PROBLEMS_H
#define MTC_FRONTEND_READER_PROBLEMS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace mtc::onnx {

/// Collects messages, each one line that names what it is about.
class Problems {
public:
  void add(const llvm::Twine &message) {
    if (messages.size() < limit)
      messages.push_back(message.str());
    ++total;
  }
  bool empty() const { return total == 0; }
  /// The messages; the last says how many were left out, if any.
  llvm::SmallVector<std::string> get() const {
    llvm::SmallVector<std::string> result = messages;
    if (total > limit)
      result.push_back("and " + std::to_string(total - limit) + " more problems");
    return result;
  }

private:
  static constexpr size_t limit = 50;
  llvm::SmallVector<std::string> messages;
  size_t total = 0;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_PROBLEMS_H
