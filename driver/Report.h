//===- Report.h - Messages to the user --------------------------------------------------------===//

#ifndef MTC_DRIVER_REPORT_H
#define MTC_DRIVER_REPORT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace mtc::tool {

/// Says what is wrong with the user's input, and ends with exit code 1.
[[noreturn]] void fail(const llvm::Twine &message);
/// Says what went wrong, and ends with the exit code of the errors.
[[noreturn]] void fail(llvm::Error error);
/// Says what went wrong and gives the exit code.
int report(llvm::Error error);
void note(const llvm::Twine &message);
void warn(const llvm::Twine &message);

/// What is said to the user.
struct Message {
  mlir::DiagnosticSeverity severity;
  std::string text;
};
void say(const Message &message);
/// Drops notes and remarks from here on (`--quiet`).
void setQuiet();
/// Reports messages of which those that differ in their node only share a line.
void sayGrouped(llvm::ArrayRef<Message> messages);

/// While one lives, what would be said is kept by it: notes, warnings and diagnostics. It goes with
/// it.
class HeldMessages {
public:
  HeldMessages();
  ~HeldMessages();
  HeldMessages(const HeldMessages &) = delete;
  HeldMessages &operator=(const HeldMessages &) = delete;

  /// Those that were kept, each once.
  llvm::ArrayRef<Message> get() const { return messages; }
  void add(const Message &message);

private:
  HeldMessages *outer;
  llvm::StringSet<> seen;
  std::vector<Message> messages;
};

/// Prints the compiler's diagnostics as a user reads them: kind, node, message; the same one once.
class DiagnosticPrinter {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext &context);

private:
  void print(mlir::Diagnostic &diagnostic);

  mlir::ScopedDiagnosticHandler handler;
  llvm::StringSet<> seen;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_REPORT_H
