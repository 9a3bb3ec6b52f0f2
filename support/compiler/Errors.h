//===- Errors.h - Errors and exit codes of the tools ------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_ERRORS_H
#define MTC_SUPPORT_COMPILER_ERRORS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>
#include <system_error>

namespace mtc::tool {

enum ExitCode { exitDone = 0, exitUserInput = 1, exitSystemFault = 2 };

/// A system error, independent of the user's input.
class SystemFault : public llvm::ErrorInfo<SystemFault> {
public:
  static char ID;
  explicit SystemFault(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string message;
};

/// Creates a user error from a one-sentence message.
llvm::Error makeUserError(const llvm::Twine &message);
llvm::Error makeSystemFault(const llvm::Twine &message);
/// Creates an error for a failed write to `what` ("-o train"): a user error if the name is invalid
/// (missing folder, no permission), otherwise a system error (disk full).
llvm::Error makeWriteError(const llvm::Twine &what, std::error_code code);

/// Prints each error with the tool's name, and returns the highest of their exit codes.
int report(llvm::StringRef tool, llvm::Error error);

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_ERRORS_H
