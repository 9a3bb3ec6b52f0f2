//===- Report.cpp - Diagnostics for the user --------------------------------------------------===//

#include "driver/Report.h"

#include "driver/ProgressLine.h"
#include "ir/NodeNames.h"
#include "tools/support/Errors.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mtc::tool;

void mtc::tool::fail(const llvm::Twine &message) {
  ProgressLine::clear();
  llvm::WithColor::error(llvm::errs(), "mtc") << message << "\n";
  exit(1);
}

int mtc::tool::report(llvm::Error error) { return report("mtc", std::move(error)); }

void mtc::tool::fail(llvm::Error error) { exit(report(std::move(error))); }

/// The innermost object.
static HeldMessages *holder = nullptr;

HeldMessages::HeldMessages() : outer(holder) { holder = this; }
HeldMessages::~HeldMessages() { holder = outer; }

void HeldMessages::add(const Message &message) {
  if (seen.insert(message.text).second)
    messages.push_back(message);
}

void mtc::tool::say(const Message &message) {
  if (holder)
    return holder->add(message);
  ProgressLine::clear();
  switch (message.severity) {
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(llvm::errs(), "mtc") << message.text << "\n";
    break;
  case DiagnosticSeverity::Warning:
    llvm::WithColor::warning(llvm::errs(), "mtc") << message.text << "\n";
    break;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    llvm::WithColor::note(llvm::errs(), "mtc") << message.text << "\n";
    break;
  }
}

void mtc::tool::note(const llvm::Twine &message) { say({DiagnosticSeverity::Note, message.str()}); }

void mtc::tool::warn(const llvm::Twine &message) {
  say({DiagnosticSeverity::Warning, message.str()});
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        print(diagnostic);
        return success();
      }) {}

void DiagnosticPrinter::print(Diagnostic &diagnostic) {
  std::string text;
  // A message about a flag starts with the flag and names the parameter itself if relevant.
  bool isAboutFlag = StringRef(diagnostic.str()).starts_with("--");
  if (std::string node = nodeNames(diagnostic.getLocation()); !node.empty() && !isAboutFlag)
    text = "node '" + node + "': ";
  else if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    llvm::raw_string_ostream(text) << place.getFilename().getValue() << ':' << place.getLine()
                                   << ':' << place.getColumn() << ": ";
  text += diagnostic.str();
  if (!holder && !seen.insert(text).second)
    return;
  say({diagnostic.getSeverity(), text});
  for (Diagnostic &attached : diagnostic.getNotes())
    note(attached.str());
}
