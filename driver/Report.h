//===- Report.h - Messages to the user --------------------------------------------------------===//

#ifndef MTC_DRIVER_REPORT_H
#define MTC_DRIVER_REPORT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace mtc::tool {

/// Says what is wrong with the user's input, and ends with exit code 1.
[[noreturn]] void fail(const llvm::Twine &message);
/// Says what went wrong, and ends with the exit code of the errors.
[[noreturn]] void fail(llvm::Error error);
/// Says what went wrong and gives the exit code.
int report(llvm::Error error);
void note(const llvm::Twine &message);
void warn(const llvm::Twine &message);

/// While one lives, nothing is said: neither notes nor diagnostics.
class MutedMessages {
public:
  MutedMessages();
  ~MutedMessages();
};

/// Prints the compiler's diagnostics as a user reads them: kind, node, message; the same one once.
class DiagnosticPrinter {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext &context);
  unsigned errorCount() const { return errors; }

private:
  void print(mlir::Diagnostic &diagnostic);

  mlir::ScopedDiagnosticHandler handler;
  llvm::StringSet<> seen;
  unsigned errors = 0;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_REPORT_H
