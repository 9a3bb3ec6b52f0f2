#include "runtime/data/class_names.h"

#include "runtime/abi/file_marks.h"
#include "runtime/support/failure.h"
#include "support/terminal/suggestions.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace mtc::runtime {

/// Returns the names in the file that mtc.data has written; none if there is no such file.
static std::vector<std::string> classesOfTable(const std::string &file, const std::string &labels) {
  const size_t slash = file.rfind('/');
  const std::string part = slash == std::string::npos ? "." : file.substr(0, slash);
  std::ifstream stream(part + "/../classes.json");
  if (!stream)
    return {};
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object() || !json.contains(MTC_WRITER_KEY) || !json.contains(labels))
    return {};
  const nlohmann::json &output = json[labels];
  if (!output.is_object() || !output.contains("classes") || !output["classes"].is_array())
    return {};
  std::vector<std::string> names;
  for (const nlohmann::json &name : output["classes"])
    names.push_back(name.is_string() ? name.get<std::string>() : "");
  return names;
}

void nameTableClasses(const std::string &file, const std::string &labels, const std::string &flag,
                      std::vector<std::string> &classes) {
  std::vector<std::string> names = classesOfTable(file, labels);
  if (names.empty())
    return;
  if (!classes.empty() && names != classes)
    userError(flag, ": has the classes ", terminal::listNames(names),
              "; expected those of the training data, ", terminal::listNames(classes),
              ". --validation FILE of python -m mtc.data converts both alike");
  classes = std::move(names);
}

} // namespace mtc::runtime
