// Compares labels with the tokens at nearby positions.
#include "runtime/data/next_token_check.h"

#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <vector>

namespace mtc::runtime {
namespace {

/// Agreement of labels with the tokens at a fixed distance after them.
struct Agreement {
  int64_t compared = 0;
  bool holds = true;

  void add(bool equal) {
    ++compared;
    holds &= equal;
  }
  /// Returns whether too many labels agree for a coincidence.
  bool isMeant(int64_t minLabels) const { return holds && compared >= minLabels; }
};

constexpr int64_t fewestLabels = 4, enoughLabels = 256;

class Comparison {
public:
  Comparison(int64_t length, int64_t ignored) : length(length), ignored(ignored) {}

  void addSequence(const int64_t *tokens, const int64_t *labels) {
    for (int64_t t = 0; t < length; ++t)
      if (labels[t] != ignored)
        for (int64_t ahead = 0; ahead < 3 && t + ahead < length; ++ahead)
          agreements[ahead].add(labels[t] == tokens[t + ahead]);
  }
  /// Returns whether further samples cannot change the result.
  bool isDone() const {
    return agreements[0].compared >= enoughLabels || !(agreements[0].holds || agreements[2].holds);
  }
  /// In a text that repeats one token, the labels are also the next tokens.
  bool isNext() const { return agreements[1].isMeant(1); }
  bool isSame() const { return agreements[0].isMeant(fewestLabels) && !isNext(); }
  bool isOneTooFar() const { return agreements[2].isMeant(4 * fewestLabels) && !isNext(); }

private:
  int64_t length, ignored;
  Agreement agreements[3]; ///< agreement with the tokens 0, 1 and 2 positions later
};

/// Reads one item of a column as 64-bit integers.
std::vector<int64_t> read(const MtcInput &input, DataColumn &column, int64_t item) {
  const int64_t count = column.elementsOfItem();
  std::vector<char> bytes(static_cast<size_t>(count * typeBytes(input.tensor.type)));
  column.load(&item, 1, bytes.data());
  std::vector<int64_t> values(static_cast<size_t>(count));
  withInteger(input.tensor.type, [&](auto example) {
    for (int64_t i = 0; i < count; ++i)
      values[static_cast<size_t>(i)] =
          static_cast<int64_t>(elementAt<decltype(example)>(bytes.data(), i));
  });
  return values;
}

std::string shiftAdvice(const MtcInput &tokens, const MtcInput &labels,
                        const std::string &labelsFlag) {
  const std::string shifted =
      text("np.concatenate([labels[:, 1:], np.full((len(labels), 1), ", labels.ignored, ")], 1)");
  if (labels.shifted_from < 0)
    return text("Give ", shifted, " instead");
  const std::string flag = labelsFlag.substr(0, labelsFlag.find(' ')); // --data or --validate
  return text("Leave ", flag, " ", labels.tensor.name, " out, and ", tokens.tensor.name,
              " shifted by one are the labels; or, to keep what is ignored, give ", shifted);
}

/// Compares samples until the result is certain.
Comparison compare(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                   DataColumn &labelColumn) {
  const int64_t length = labels.tensor.dims[labels.tensor.rank - 1],
                items = std::min(tokenColumn.items(), labelColumn.items());
  Comparison comparison(length, labels.ignored);
  if (length == 0 || tokenColumn.elementsOfItem() != labelColumn.elementsOfItem())
    return comparison;
  for (int64_t item = 0; item < items && !comparison.isDone(); ++item) {
    std::vector<int64_t> ids = read(tokens, tokenColumn, item),
                         next = read(labels, labelColumn, item);
    for (size_t at = 0; at < ids.size(); at += static_cast<size_t>(length))
      comparison.addSequence(&ids[at], &next[at]);
  }
  return comparison;
}

} // namespace

bool labelsRepeatTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                        DataColumn &labelColumn) {
  return compare(tokens, tokenColumn, labels, labelColumn).isSame();
}

void checkNextTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                     DataColumn &labelColumn) {
  const Comparison comparison = compare(tokens, tokenColumn, labels, labelColumn);
  if (comparison.isSame())
    userError(labelColumn.flag(), ": each label is the token of ", tokenColumn.flag(),
              " at its own position, so that the model would learn to repeat its input. Labels of "
              "causal-lm are the next tokens already: Hugging Face's models shift labels "
              "themselves, mtc does not. ",
              shiftAdvice(tokens, labels, labelColumn.flag()));
  if (comparison.isOneTooFar())
    userError(
        labelColumn.flag(), ": each label is the token of ", tokenColumn.flag(),
        " two positions after it. Labels of causal-lm are the next tokens; those in a .bin are "
        "taken from the token after a row's first on, so that the tokens' own file is "
        "their file, too");
}

} // namespace mtc::runtime
