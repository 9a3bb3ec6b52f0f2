// Pieces of HTML, for the pages of the compiler and of its programs.
#ifndef MTC_SUPPORT_PAGES_HTML_H
#define MTC_SUPPORT_PAGES_HTML_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtc::html {

/// Returns UTF-8 text with `&`, `<`, `>` and double quotes escaped, and without control characters.
std::string escape(std::string_view text);

/// Returns JSON in a form that is valid in a script element: no text can close the element.
std::string escapeJson(std::string_view json);

/// Returns "1,234,567".
std::string wholeText(int64_t value);

/// A column of a table. Numbers are aligned to the right, except in the first column.
struct Column {
  std::string title;
  bool isNumber = true;
};

/// A row of a table. The first cell is its heading.
struct Row {
  std::vector<std::string> cells;
  std::string color = {}; ///< of a mark before the heading: a CSS color; "" for no mark
};

/// Returns a table with a caption for screen readers. Cells are escaped.
std::string table(const std::string &caption, const std::vector<Column> &columns,
                  const std::vector<Row> &rows);

/// A number in the summary at the top of a page.
struct Tile {
  std::string name, value;
  std::string unit = {}, note = {}; ///< "" for none
};
std::string tiles(const std::vector<Tile> &tiles);

/// A share of a bar.
struct Share {
  double fraction;
  std::string color;
};
/// Returns a bar that shows shares side by side.
std::string stackedBar(const std::string &label, const std::vector<Share> &shares);

/// Returns a list of names and values, all escaped.
std::string descriptionList(const std::vector<std::pair<std::string, std::string>> &namesAndValues);

/// Replaces each `@NAME@` of a template by its value, which is not searched again.
std::string fill(std::string_view text,
                 const std::vector<std::pair<std::string_view, std::string>> &values);

} // namespace mtc::html

#endif // MTC_SUPPORT_PAGES_HTML_H
