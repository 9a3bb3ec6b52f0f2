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
  explicit Comparison(int64_t ignored) : ignored(ignored) {}

  void addSequence(const int64_t *tokens, const int64_t *labels, int64_t length) {
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
  int64_t ignored;
  Agreement agreements[3]; ///< agreement with the tokens 0, 1 and 2 positions later
};

/// Reads a row as 64-bit integers.
std::vector<int64_t> read(const TokenRows &rows, int64_t row) {
  const std::vector<char> bytes = rows.read(row);
  const uint32_t type = rows.input.tensor.type;
  std::vector<int64_t> values(bytes.size() / static_cast<size_t>(typeBytes(type)));
  withInteger(type, [&](auto example) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] =
          static_cast<int64_t>(elementAt<decltype(example)>(bytes.data(), static_cast<int64_t>(i)));
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

/// Compares rows until the result is certain.
Comparison compare(const TokenRows &tokens, const TokenRows &labels) {
  const MtcTensor &tensor = labels.input.tensor;
  const int64_t rows = std::min(tokens.rows, labels.rows);
  Comparison comparison(labels.input.ignored);
  for (int64_t row = 0; row < rows && !comparison.isDone(); ++row) {
    const std::vector<int64_t> ids = read(tokens, row), next = read(labels, row);
    if (ids.size() != next.size())
      return comparison;
    // A row of ragged data is a single sequence.
    const auto length = std::min(static_cast<size_t>(tensor.dims[tensor.rank - 1]), ids.size());
    for (size_t at = 0; at < ids.size(); at += length)
      comparison.addSequence(&ids[at], &next[at], static_cast<int64_t>(length));
  }
  return comparison;
}

} // namespace

bool labelsRepeatTokens(const TokenRows &tokens, const TokenRows &labels) {
  return compare(tokens, labels).isSame();
}

void checkNextTokens(const TokenRows &tokens, const TokenRows &labels) {
  const Comparison comparison = compare(tokens, labels);
  if (comparison.isSame())
    userError(labels.flag, ": each label is the token of ", tokens.flag,
              " at its own position, so that the model would learn to repeat its input. Labels of "
              "causal-lm are the next tokens already: Hugging Face's models shift labels "
              "themselves, mtc does not. ",
              shiftAdvice(tokens.input, labels.input, labels.flag));
  if (comparison.isOneTooFar())
    userError(
        labels.flag, ": each label is the token of ", tokens.flag,
        " two positions after it. Labels of causal-lm are the next tokens; those in a .bin are "
        "taken from the token after a row's first on, so that the tokens' own file is "
        "their file, too");
}

} // namespace mtc::runtime
