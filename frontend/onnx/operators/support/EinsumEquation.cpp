//===- EinsumEquation.cpp - Equations of Einsum nodes -----------------------------------------===//

#include "frontend/onnx/operators/support/EinsumEquation.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The term of one operand or of the result: the letters before and after an ellipsis.
struct Term {
  std::string before, after;
  bool ellipsis = false;

  int64_t letters() const { return static_cast<int64_t>(before.size() + after.size()); }
};

FailureOr<Term> parseTerm(NodeView &node, StringRef text) {
  Term term;
  std::pair<StringRef, StringRef> halves = text.split("...");
  term.ellipsis = text.contains("...");
  term.before = halves.first.str();
  term.after = halves.second.str();
  for (char letter : term.before + term.after)
    if (!llvm::isAlpha(letter))
      return node.failure("attribute equation has a term \"" + text + "\", expected letters");
  return term;
}

/// Returns the implicit result term of an equation without `->`.
Term implicitResult(ArrayRef<Term> operands) {
  std::map<char, int> uses;
  Term result;
  for (const Term &term : operands) {
    result.ellipsis |= term.ellipsis;
    for (char letter : term.before + term.after)
      ++uses[letter];
  }
  for (auto [letter, count] : uses)
    if (count == 1)
      result.after += letter;
  return result;
}

/// Maps letters to labels, numbered in order of appearance after the labels of the ellipsis.
class Labels {
public:
  explicit Labels(int64_t ellipsisRank) : ellipsisRank(ellipsisRank) {}

  /// Returns the labels of a term. An ellipsis that covers `covered` axes gets the last `covered`
  /// labels of the ellipsis.
  SmallVector<int64_t> of(const Term &term, int64_t covered) {
    SmallVector<int64_t> labels;
    for (char letter : term.before)
      labels.push_back(label(letter));
    for (int64_t i = ellipsisRank - covered; i < ellipsisRank; ++i)
      labels.push_back(i);
    for (char letter : term.after)
      labels.push_back(label(letter));
    return labels;
  }

  int64_t count() const { return ellipsisRank + static_cast<int64_t>(letters.size()); }
  bool knows(char letter) const { return letters.count(letter) != 0; }

private:
  int64_t label(char letter) { return letters.try_emplace(letter, count()).first->second; }

  int64_t ellipsisRank;
  std::map<char, int64_t> letters;
};

} // namespace

FailureOr<EinsumEquation> readEinsum(NodeView &node) {
  std::string equation = node.string("equation", "").str();
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  if (node.failed() || texts.size() != node.operandCount())
    return node.failure("attribute equation = \"" + equation + "\" has " + Twine(texts.size()) +
                        " terms, expected " + Twine(node.operandCount()));
  SmallVector<Term> terms;
  int64_t ellipsisRank = 0;
  for (auto [i, text] : llvm::enumerate(texts)) {
    FailureOr<Term> term = parseTerm(node, text);
    if (failed(term))
      return failure();
    int64_t covered = node.rank(i) - term->letters();
    if (covered < 0 || (covered > 0 && !term->ellipsis))
      return node.failure("attribute equation = \"" + equation + "\" does not match " +
                          node.operandName(i) + " of shape " + shapeText(node.shape(i)));
    ellipsisRank = std::max(ellipsisRank, covered);
    terms.push_back(*term);
  }
  bool explicitResult = StringRef(equation).contains("->");
  FailureOr<Term> result =
      explicitResult ? parseTerm(node, right) : FailureOr<Term>(implicitResult(terms));
  if (failed(result))
    return failure();

  Labels labels(ellipsisRank);
  EinsumEquation read;
  for (auto [i, term] : llvm::enumerate(terms))
    read.operands.push_back(labels.of(term, node.rank(i) - term.letters()));
  for (char letter : result->before + result->after)
    if (!labels.knows(letter) || llvm::count(result->before + result->after, letter) != 1)
      return node.failure("attribute equation = \"" + equation + "\" has '" + Twine(letter) +
                          "' in its result, expected each letter once and in an operand");
  read.result = labels.of(*result, result->ellipsis ? ellipsisRank : 0);
  read.extents.assign(labels.count(), 1);
  for (auto [i, axes] : llvm::enumerate(read.operands))
    for (auto [axis, label] : llvm::enumerate(axes)) {
      int64_t extent = node.dim(i, axis), &known = read.extents[label];
      if (extent != known && extent != 1 && known != 1)
        return node.failure(Twine(node.operandName(i)) + " has extent " + Twine(extent) +
                            " on axis " + Twine(axis) + ", another operand " + Twine(known));
      if (known == 1)
        known = extent;
    }
  return read;
}

} // namespace mtc::onnx
