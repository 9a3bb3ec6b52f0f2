//===- Errors.h - Errors and the exit codes that they end with --------------------------------===//

#ifndef MTC_TOOLS_SUPPORT_ERRORS_H
#define MTC_TOOLS_SUPPORT_ERRORS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>
#include <system_error>

namespace mtc::tool {

enum ExitCode { exitDone = 0, exitUserInput = 1, exitSystemFault = 2 };

/// A fault of the machine, which another input would not mend.
class SystemFault : public llvm::ErrorInfo<SystemFault> {
public:
  static char ID;
  explicit SystemFault(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string message;
};

/// A mistake of the user's, in one sentence.
llvm::Error makeUserError(const llvm::Twine &message);
llvm::Error makeSystemFault(const llvm::Twine &message);
/// That `what` ("-o train") cannot be written: a mistake of the user's where the name is what is
/// wrong (no such folder, no permission), otherwise a fault of the system (the disk is full).
llvm::Error makeWriteError(const llvm::Twine &what, std::error_code code);

/// Prints each of the errors as the tool's, and gives the highest of their exit codes.
int report(llvm::StringRef tool, llvm::Error error);

} // namespace mtc::tool

#endif // MTC_TOOLS_SUPPORT_ERRORS_H
