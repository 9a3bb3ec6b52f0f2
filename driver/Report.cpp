//===- Report.cpp - Messages to the user ------------------------------------------------------===//

#include "driver/Report.h"

#include "ir/NodeNames.h"
#include "tools/support/Errors.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mtc::tool;

void mtc::tool::fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "mtc") << message << "\n";
  exit(1);
}

int mtc::tool::report(llvm::Error error) { return report("mtc", std::move(error)); }

void mtc::tool::fail(llvm::Error error) { exit(report(std::move(error))); }

static unsigned muted = 0;

MutedMessages::MutedMessages() { ++muted; }
MutedMessages::~MutedMessages() { --muted; }

void mtc::tool::note(const llvm::Twine &message) {
  if (muted)
    return;
  llvm::WithColor::note(llvm::errs(), "mtc") << message << "\n";
}

void mtc::tool::warn(const llvm::Twine &message) {
  if (muted)
    return;
  llvm::WithColor::warning(llvm::errs(), "mtc") << message << "\n";
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        print(diagnostic);
        return success();
      }) {}

void DiagnosticPrinter::print(Diagnostic &diagnostic) {
  std::string text;
  if (std::string node = nodeNames(diagnostic.getLocation()); !node.empty())
    text = "node '" + node + "': ";
  else if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    llvm::raw_string_ostream(text) << place.getFilename().getValue() << ':' << place.getLine()
                                   << ':' << place.getColumn() << ": ";
  text += diagnostic.str();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    ++errors;
  if (muted || !seen.insert(text).second)
    return;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(llvm::errs(), "mtc") << text << "\n";
    break;
  case DiagnosticSeverity::Warning:
    warn(text);
    break;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    note(text);
    break;
  }
  for (Diagnostic &attached : diagnostic.getNotes())
    note(attached.str());
}
