#include "runtime/reports/class_section.h"

#include "runtime/reports/report_text.h"
#include "support/pages/html.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

/// Draws a cell for each label (row) and prediction (column). Its opacity is the share of the
/// label's targets; errors have another color than correct predictions.
class MatrixPicture {
public:
  MatrixPicture(const ConfusionMatrix &matrix, const std::vector<std::string> &names)
      : matrix(matrix), names(names), classes(matrix.classes()),
        cell(size / static_cast<double>(classes)) {
    constexpr double title = 24, letter = 7;
    size_t longest = 0;
    for (int64_t label = 0; label < classes && classes <= maxNamed; ++label)
      longest = std::max(longest, shortNameOf(label).size());
    margin = title + letter * static_cast<double>(longest);
  }

  std::string draw() const {
    const double height = size + margin, width = height + margin / 2; // for slanted names
    std::string svg =
        text("<svg viewBox=\"0 0 ", width, " ", height, "\" role=\"img\" style=\"max-width:", width,
             "px\" aria-label=\"Confusion matrix\" font-size=\"12\" "
             "fill=\"currentColor\">");
    svg +=
        text("<text x=\"", margin + size / 2, "\" y=\"14\" text-anchor=\"middle\">predicted</text>",
             "<text transform=\"rotate(-90)\" x=\"", -margin - size / 2,
             "\" y=\"14\" text-anchor=\"middle\">label</text>");
    for (int64_t label = 0; label < classes; ++label) {
      if (classes <= maxNamed)
        svg += nameOf(label);
      const int64_t all = matrix.scoresOf(label).labelled;
      for (int64_t predicted = 0; predicted < classes; ++predicted)
        if (const int64_t count = matrix.at(label, predicted))
          svg += drawCell(label, predicted, count,
                          static_cast<double>(count) / static_cast<double>(all));
    }
    return svg + text("<rect x=\"", margin, "\" y=\"", margin, "\" width=\"", size, "\" height=\"",
                      size, "\" fill=\"none\" class=\"grid\"/></svg>\n");
  }

private:
  static constexpr int64_t maxNamed = 40, maxNumbered = 20;
  static constexpr double size = 560;

  double at(int64_t index) const { return margin + cell * static_cast<double>(index); }

  /// Returns a name that fits the margin. A character of several bytes is not divided.
  std::string shortNameOf(int64_t label) const {
    constexpr size_t maxLength = 14;
    std::string name = classNameOf(names, label);
    if (name.size() <= maxLength)
      return name;
    size_t end = maxLength - 3;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)
      --end;
    return name.substr(0, end) + "...";
  }

  /// Returns the name of a class beside its row and above its column.
  std::string nameOf(int64_t label) const {
    const std::string name = html::escape(shortNameOf(label));
    const double center = at(label) + cell / 2;
    return text("<text x=\"", margin - 6, "\" y=\"", center + 4, "\" text-anchor=\"end\">", name,
                "</text><text transform=\"translate(", center + 4, " ", margin - 6,
                ") rotate(-60)\">", name, "</text>");
  }

  std::string drawCell(int64_t label, int64_t predicted, int64_t count, double share) const {
    const double minOpacity = 0.2;
    std::string svg = text(
        "<g><title>", html::escape(classNameOf(names, label)), " predicted as ",
        html::escape(classNameOf(names, predicted)), ": ", html::wholeText(count), " (",
        formatNumber("%.1f", 100 * share), " %)</title><rect x=\"", at(predicted), "\" y=\"",
        at(label), "\" width=\"", cell, "\" height=\"", cell, "\" fill=\"var(--c",
        label == predicted ? 0 : 1, ")\" fill-opacity=\"", std::max(minOpacity, share), "\"/>");
    if (classes <= maxNumbered)
      svg += text("<text x=\"", at(predicted) + cell / 2, "\" y=\"", at(label) + cell / 2 + 4,
                  "\" text-anchor=\"middle\"", share > 0.6 ? " fill=\"var(--panel)\">" : ">", count,
                  "</text>");
    return svg + "</g>";
  }

  const ConfusionMatrix &matrix;
  const std::vector<std::string> &names;
  int64_t classes;
  double cell, margin = 0;
};

/// Returns the scores of all classes, or of those with the lowest F1 if there are many.
std::string scoresTable(const ConfusionMatrix &matrix, const std::vector<std::string> &names) {
  constexpr size_t maxRows = 100;
  std::vector<std::pair<ClassScores, int64_t>> classes;
  classes.reserve(static_cast<size_t>(matrix.classes()));
  for (int64_t label = 0; label < matrix.classes(); ++label)
    classes.emplace_back(matrix.scoresOf(label), label);
  std::string caption = "Precision, recall and F1 of each class";
  if (classes.size() > maxRows) {
    std::sort(classes.begin(), classes.end(), [](const auto &one, const auto &other) {
      return std::pair(one.first.f1, one.second) < std::pair(other.first.f1, other.second);
    });
    classes.resize(maxRows);
    caption = text("The ", maxRows, " classes with the lowest F1");
  }
  std::vector<html::Row> rows;
  rows.reserve(classes.size());
  for (const auto &[scores, label] : classes)
    rows.push_back(
        {{classNameOf(names, label), numberText(scores.precision), numberText(scores.recall),
          numberText(scores.f1), html::wholeText(scores.labelled)}});
  return html::table(caption, {{"Class", false}, {"Precision"}, {"Recall"}, {"F1"}, {"Targets"}},
                     rows);
}

} // namespace

std::string classesSection(const RunRecord &record) {
  const ValidationMetrics *shown = record.bestValidation();
  if (!shown && !record.validations.empty())
    shown = &record.validations.back();
  if (!shown || shown->confusion.classes() < 2)
    return "";
  const std::vector<std::string> &names = record.facts.classes;
  return "<section>\n<h2>Classes</h2>\n<div class=\"panel long\">\n<p>" +
         html::escape(text("Confusion matrix of the ", shown->isBest ? "best" : "last",
                           " validation, after step ", html::wholeText(shown->step), ".")) +
         "</p>\n" + MatrixPicture(shown->confusion, names).draw() +
         scoresTable(shown->confusion, names) + "</div>\n</section>\n";
}

} // namespace mtc::runtime
