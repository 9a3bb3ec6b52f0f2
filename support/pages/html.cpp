// Text becomes HTML only here, so that no name of a model can become markup.
#include "support/pages/html.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace mtc::html {

std::string escape(std::string_view text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      if (static_cast<unsigned char>(c) < ' ' && c != '\n')
        result += "\xef\xbf\xbd"; // replacement character
      else
        result += c;
    }
  return result;
}

std::string escapeJson(std::string_view json) {
  std::string result;
  for (char c : json)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

std::string wholeText(int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string tiles(const std::vector<Tile> &tiles) {
  std::string html = "<dl class=\"tiles\">\n";
  for (const Tile &tile : tiles) {
    html += "<div class=\"tile\"><dt>" + escape(tile.name) + "</dt><dd>" + escape(tile.value);
    if (!tile.unit.empty())
      html += " <small>" + escape(tile.unit) + "</small>";
    html += "</dd>";
    if (!tile.note.empty())
      html += "<dd>" + escape(tile.note) + "</dd>";
    html += "</div>\n";
  }
  return html + "</dl>\n";
}

std::string stackedBar(const std::string &label, const std::vector<Share> &shares) {
  std::string html = "<div class=\"stack\" role=\"img\" aria-label=\"" + escape(label) + "\">";
  for (const Share &share : shares) {
    std::array<char, 32> percent;
    std::snprintf(percent.data(), percent.size(), "%.3f", 100 * share.fraction);
    html += std::string("<span style=\"width:") + percent.data() + "%;background:" + share.color +
            "\"></span>";
  }
  return html + "</div>\n";
}

std::string table(const std::string &caption, const std::vector<Column> &columns,
                  const std::vector<Row> &rows) {
  std::string html =
      "<div class=\"scroll\"><table><caption>" + escape(caption) + "</caption><thead><tr>";
  for (const Column &column : columns)
    html += std::string("<th scope=\"col\"") + (column.isNumber ? " class=\"number\">" : ">") +
            escape(column.title) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const Row &row : rows) {
    const bool isMarked = !row.color.empty();
    html += isMarked ? "<tr><th scope=\"row\" class=\"marked\"><i style=\"background:" + row.color +
                           "\"></i>"
                     : std::string("<tr><th scope=\"row\">");
    html += escape(row.cells.front()) + "</th>";
    for (size_t i = 1; i < row.cells.size(); ++i)
      html +=
          (columns[i].isNumber ? "<td class=\"number\">" : "<td>") + escape(row.cells[i]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string
descriptionList(const std::vector<std::pair<std::string, std::string>> &namesAndValues) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto &[name, value] : namesAndValues)
    html += "<div><dt>" + escape(name) + "</dt><dd>" + escape(value) + "</dd></div>\n";
  return html + "</dl>\n";
}

std::string fill(std::string_view text,
                 const std::vector<std::pair<std::string_view, std::string>> &values) {
  std::string result;
  for (;;) {
    const auto *next = &values.front();
    size_t first = std::string_view::npos;
    for (const auto &value : values)
      if (const size_t at = text.find("@" + std::string(value.first) + "@"); at < first) {
        first = at;
        next = &value;
      }
    result += text.substr(0, first);
    if (first == std::string_view::npos)
      return result;
    result += next->second;
    text.remove_prefix(first + next->first.size() + 2);
  }
}

} // namespace mtc::html
