//===- Report.h - Diagnostics for the user ----------------------------------------------------===//

#ifndef MTC_DRIVER_REPORT_H
#define MTC_DRIVER_REPORT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace mtc::tool {

/// Reports an error in the user's input and exits with code 1.
[[noreturn]] void fail(const llvm::Twine &message);
/// Reports errors and exits with their exit code.
[[noreturn]] void fail(llvm::Error error);
/// Reports errors and returns their exit code.
int report(llvm::Error error);
/// Writes text for people to standard output, so that a terminal does not interpret what is in it.
void show(llvm::StringRef text);
void note(const llvm::Twine &message);
void warn(const llvm::Twine &message);

/// A message to the user.
struct Message {
  mlir::DiagnosticSeverity severity;
  std::string text;
};
void say(const Message &message);
/// Drops notes and remarks from here on (`--quiet`).
void setQuiet();
/// Reports messages of which those that differ in their node only share a line.
void sayGrouped(llvm::ArrayRef<Message> messages);

/// Collects notes, warnings and diagnostics while it lives, instead of printing them. The messages
/// are discarded with the object.
class HeldMessages {
public:
  HeldMessages();
  ~HeldMessages();
  HeldMessages(const HeldMessages &) = delete;
  HeldMessages &operator=(const HeldMessages &) = delete;

  /// Returns the collected messages without duplicates.
  llvm::ArrayRef<Message> get() const { return messages; }
  void add(const Message &message);

private:
  HeldMessages *outer;
  llvm::StringSet<> seen;
  std::vector<Message> messages;
};

/// Prints diagnostics of the compiler for users: severity, node, message. Prints duplicates once.
class DiagnosticPrinter {
public:
  /// `namesOperations`: messages name the operation and the violated constraint, which only a user
  /// of a stage text has seen.
  DiagnosticPrinter(mlir::MLIRContext &context, bool namesOperations);

private:
  void print(mlir::Diagnostic &diagnostic);

  bool namesOperations;
  mlir::ScopedDiagnosticHandler handler;
  llvm::StringSet<> seen;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_REPORT_H
