//===- ModelText.cpp - A model's description for people ---------------------------------------===//

#include "ModelText.h"

#include "driver/PlanText.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace llvm;
using namespace mtc::tool;

namespace {

/// Initializers whose names differ only in numbers.
struct LayerGroup {
  std::string pattern, shape;
  int64_t count = 0, elements = 0;
};

std::string shapeOf(const json::Object &row) {
  std::string text = "[";
  raw_string_ostream os(text);
  interleaveComma(*row.getArray("shape"), os,
                  [&](const json::Value &extent) { os << *extent.getAsInteger(); });
  return text + "]";
}

int64_t elementsOf(const json::Object &row) {
  int64_t elements = 1;
  for (const json::Value &extent : *row.getArray("shape"))
    elements *= *extent.getAsInteger();
  return elements;
}

/// Formats 123456789 as "123.5M elements (123456789)".
std::string formatElements(int64_t elements) {
  static constexpr const char *units[] = {"", "K", "M", "B", "T"};
  auto value = static_cast<double>(elements);
  unsigned unit = 0;
  for (; value >= 1000 && unit < 4; ++unit)
    value /= 1000;
  if (unit == 0)
    return formatv("{0} element{1}", elements, elements == 1 ? "" : "s");
  return formatv("{0:f1}{1} elements ({2})", value, units[unit], elements);
}

class Printer {
public:
  Printer(const json::Object &description, bool isVerbose, raw_ostream &os)
      : description(description), isVerbose(isVerbose), os(os) {}

  void run() {
    os << *description.getString("model");
    if (std::optional<int64_t> opset = description.getInteger("opset"))
      os << " (opset " << *opset << ")";
    os << "\n\n";
    printInputs();
    printDimensions();
    printInitializers();
    printTies();
    printOperators();
    printAttention();
    printVerdict();
  }

private:
  raw_ostream &start(StringRef heading) { return os << left_justify(heading, 12); }

  void printInputs() {
    for (const json::Value &value : *description.getArray("inputs")) {
      const json::Object &input = *value.getAsObject();
      start("Input") << *input.getString("name") << " [";
      interleaveComma(*input.getArray("dims"), os,
                      [&](const json::Value &dim) { os << *dim.getAsString(); });
      os << "]";
      if (std::optional<bool> isBatched = input.getBoolean("batched"))
        os << (*isBatched ? ", batch axis first" : ", no batch axis: passed whole to each step");
      os << "\n";
    }
    start("Output");
    interleaveComma(*description.getArray("outputs"), os,
                    [&](const json::Value &output) { os << *output.getAsString(); });
    os << "\n";
  }

  void printDimensions() {
    const json::Array &open = *description.getArray("open_dimensions");
    const json::Object &dims = *description.getObject("dimensions");
    if (dims.empty())
      return;
    start("Dimensions");
    interleaveComma(dims, os, [&](const auto &dim) {
      os << dim.first.str() << "=" << *dim.second.getAsInteger();
      if (is_contained(open, json::Value(dim.first.str())))
        os << " (open: set with --dim " << dim.first.str() << "=N)";
    });
    os << "\n";
  }

  void printInitializers() {
    MapVector<StringRef, std::vector<const json::Object *>> byRole;
    for (const json::Value &value : *description.getArray("initializers")) {
      const json::Object &row = *value.getAsObject();
      byRole[*row.getString("role")].push_back(&row);
    }
    static constexpr std::pair<StringLiteral, StringLiteral> headings[] = {
        {"parameter", "Parameters"},
        {"frozen", "Frozen"},
        {"state", "Buffers"},
        {"constant", "Constants"}};
    for (auto [role, heading] : headings) {
      const std::vector<const json::Object *> &rows = byRole[role];
      if (rows.empty() && role != "parameter")
        continue;
      int64_t elements = 0;
      for (const json::Object *row : rows)
        elements += elementsOf(*row);
      start(heading) << rows.size() << (rows.size() == 1 ? " tensor, " : " tensors, ")
                     << formatElements(elements) << "\n";
      if (isVerbose)
        for (const json::Object *row : rows)
          printRow(*row);
      else if (role != "constant")
        printGroups(rows);
      if (!isVerbose)
        for (const json::Object *row : rows)
          if ((role == "constant" && row->getBoolean("looks_trainable")) ||
              row->getBoolean("doubtful"))
            printRow(*row);
    }
  }

  void printRow(const json::Object &row) {
    os << "  " << *row.getString("name") << " " << shapeOf(row);
    if (auto name = row.getString("module_name"))
      os << ", " << *name << " of the module";
    os << ": " << *row.getString("reason")
       << (row.getBoolean("looks_trainable") ? "; used like a parameter" : "")
       << (row.getBoolean("doubtful") ? "; doubtful" : "") << "\n";
  }

  /// A line for initializers of equal shape whose names differ only in the number of a layer.
  void printGroups(ArrayRef<const json::Object *> rows) {
    constexpr size_t maxGroups = 32;
    using Key = std::pair<std::string, std::string>;
    MapVector<Key, LayerGroup, std::map<Key, unsigned>> groups;
    for (const json::Object *row : rows) {
      const std::string name = row->getString("name")->str(), shape = shapeOf(*row);
      LayerGroup &group = groups[{withoutNumbers(name), shape}];
      group.pattern = group.count ? withoutNumbers(name) : name;
      group.shape = shape;
      group.elements += elementsOf(*row);
      ++group.count;
    }
    size_t width = 0, shapeWidth = 0;
    for (const auto &[key, group] : groups) {
      width = std::max(width, group.pattern.size());
      shapeWidth = std::max(shapeWidth, group.shape.size());
    }
    width = std::min<size_t>(width, 60);
    int64_t others = 0, otherElements = 0;
    for (const auto &[number, entry] : enumerate(groups)) {
      const LayerGroup &group = entry.second;
      if (number >= maxGroups) {
        others += group.count;
        otherElements += group.elements;
        continue;
      }
      std::string times = group.count > 1 ? formatv("{0} x", group.count).str() : "";
      os << "  " << left_justify(group.pattern, width) << "  " << right_justify(times, 6) << " "
         << left_justify(group.shape, shapeWidth) << right_justify(itostr(group.elements), 14)
         << "\n";
    }
    if (others)
      os << "  " << others << " more, " << formatElements(otherElements)
         << "; --verbose lists them\n";
  }

  void printTies() {
    for (const json::Value &value : *description.getArray("ties")) {
      const json::Object &tie = *value.getAsObject();
      start("Tied") << *tie.getString("name") << " = " << *tie.getString("copy")
                    << (*tie.getBoolean("same_layout") ? "" : ", transposed") << "\n";
    }
  }

  /// The operators and the number of each, most frequent first.
  void printOperators() {
    std::vector<std::pair<int64_t, std::string>> operators;
    int64_t nodes = 0;
    for (const auto &[name, count] : *description.getObject("operators")) {
      operators.emplace_back(*count.getAsInteger(), name.str());
      nodes += *count.getAsInteger();
    }
    sort(operators, [](const auto &a, const auto &b) {
      return std::tie(b.first, a.second) < std::tie(a.first, b.second);
    });
    start("Operators") << nodes << (nodes == 1 ? " node: " : " nodes: ");
    size_t column = 12;
    for (auto [i, each] : enumerate(operators)) {
      std::string text = each.second + " " + itostr(each.first);
      if (i + 1 < operators.size())
        text += ",";
      if (column + text.size() > 96) {
        os << "\n" << std::string(12, ' ');
        column = 12;
      } else if (i > 0) {
        text = " " + text;
      }
      os << text;
      column += text.size();
    }
    os << "\n";
  }

  void printAttention() {
    const json::Object *attention = description.getObject("attention");
    if (!attention)
      return;
    const json::Array &refused = *attention->getArray("refused");
    start("Attention") << *attention->getInteger("recognized") << " fused, " << refused.size()
                       << " decomposed\n";
    for (const json::Value &reason : refused)
      os << "  " << *reason.getAsString() << "\n";
  }

  void printVerdict() {
    if (!*description.getBoolean("compiles")) {
      os << "\nDoes not compile\n";
      return;
    }
    os << "\nCompiles with: " << *description.getString("command") << "\n";
    if (description.getString("loss")->empty())
      os << "The outputs do not determine the loss: replace NAME by a loss of mtc compile "
            "--help-all, or add --output for another value.\n";
  }

  const json::Object &description;
  bool isVerbose;
  raw_ostream &os;
};

} // namespace

void mtc::tool::printModel(const json::Object &description, bool isVerbose, raw_ostream &os) {
  Printer(description, isVerbose, os).run();
}
