//===- Report.cpp - Diagnostics for the user --------------------------------------------------===//

#include "driver/Report.h"

#include "driver/ProgressLine.h"
#include "ir/NodeNames.h"
#include "support/compiler/Errors.h"
#include "support/terminal/printable.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

void mtc::tool::fail(const llvm::Twine &message) {
  ProgressLine::clear();
  llvm::WithColor::error(llvm::errs(), "mtc") << terminal::printable(message.str()) << "\n";
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

static bool isQuiet = false;

void mtc::tool::setQuiet() { isQuiet = true; }

void mtc::tool::sayGrouped(llvm::ArrayRef<Message> messages) {
  constexpr size_t shown = 3;
  constexpr llvm::StringLiteral start = "node '", end = "': ";
  using Problem = std::tuple<DiagnosticSeverity, bool, StringRef>; // With or without a node.
  llvm::MapVector<Problem, std::vector<StringRef>, std::map<Problem, unsigned>> nodes;
  for (const Message &message : messages) {
    StringRef text = message.text, node;
    if (text.starts_with(start))
      if (size_t length = text.find(end); length != StringRef::npos) {
        node = text.slice(start.size(), length);
        text = text.drop_front(length + end.size());
      }
    nodes[{message.severity, node.empty(), text}].push_back(node);
  }
  for (const auto &[problem, found] : nodes) {
    const auto &[severity, hasNoNode, text] = problem;
    std::string subject;
    if (found.size() == 1 && !hasNoNode)
      subject = (start + found.front() + end).str();
    else if (!hasNoNode)
      subject =
          ("nodes '" + llvm::join(llvm::ArrayRef(found).take_front(shown), "', '") + "'" +
           (found.size() > shown ? " and " + llvm::Twine(found.size() - shown) + " more" : "") +
           ": ")
              .str();
    say({severity, subject + text.str()});
  }
}

void mtc::tool::say(const Message &message) {
  if (isQuiet && (message.severity == DiagnosticSeverity::Note ||
                  message.severity == DiagnosticSeverity::Remark))
    return;
  if (holder)
    return holder->add(message);
  ProgressLine::clear();
  const std::string text = terminal::printable(message.text);
  switch (message.severity) {
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(llvm::errs(), "mtc") << text << "\n";
    break;
  case DiagnosticSeverity::Warning:
    llvm::WithColor::warning(llvm::errs(), "mtc") << text << "\n";
    break;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    llvm::WithColor::note(llvm::errs(), "mtc") << text << "\n";
    break;
  }
}

void mtc::tool::show(llvm::StringRef text) { llvm::outs() << terminal::printable(text); }

void mtc::tool::note(const llvm::Twine &message) { say({DiagnosticSeverity::Note, message.str()}); }

void mtc::tool::warn(const llvm::Twine &message) {
  say({DiagnosticSeverity::Warning, message.str()});
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context, bool namesOperations)
    : namesOperations(namesOperations), handler(&context, [this](Diagnostic &diagnostic) {
        print(diagnostic);
        return success();
      }) {}

/// "'mtc.gather' op points outside (gather_c4)" => "points outside".
static StringRef withoutOperation(StringRef text) {
  if (size_t end = text.find("' op "); text.starts_with("'") && end != StringRef::npos)
    text = text.drop_front(end + StringRef("' op ").size());
  auto [before, constraint] = text.rsplit(" (");
  auto [name, number] = constraint.rsplit("_c");
  auto isDigit = [](char c) { return llvm::isDigit(c) || c == ')'; };
  return !name.empty() && number.size() > 1 && llvm::all_of(number, isDigit) ? before : text;
}

void DiagnosticPrinter::print(Diagnostic &diagnostic) {
  std::string text;
  // A message about a flag starts with the flag and names the parameter itself if relevant.
  bool isAboutFlag = StringRef(diagnostic.str()).starts_with("--");
  if (std::string node = nodeNames(diagnostic.getLocation()); !node.empty() && !isAboutFlag)
    text = "node '" + node + "': ";
  else if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    llvm::raw_string_ostream(text) << place.getFilename().getValue() << ':' << place.getLine()
                                   << ':' << place.getColumn() << ": ";
  const std::string message = diagnostic.str();
  text += namesOperations ? StringRef(message) : withoutOperation(message);
  if (!holder && !seen.insert(text).second)
    return;
  say({diagnostic.getSeverity(), text});
  // MLIR appends the text of the operation, which a user of a model has never seen.
  for (Diagnostic &attached : diagnostic.getNotes())
    if (std::string more = attached.str(); !StringRef(more).starts_with("see current operation"))
      note(more);
}
