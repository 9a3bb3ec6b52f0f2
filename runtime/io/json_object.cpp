// Parses JSON objects and rejects duplicate keys.
#include "runtime/io/json_object.h"

#include "runtime/support/failure.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

using Json = nlohmann::json;

/// Builds the value from SAX events. The callback API of nlohmann's parser is not used because it
/// scans the whole object at the end of each member.
class ObjectBuilder : public nlohmann::json_sax<Json> {
public:
  Json root;
  std::string repeated;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &) override { return false; } // JSON has no binary values.
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool key(string_t &value) override {
    name = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string &, const Json::exception &) override { return false; }

private:
  static constexpr size_t deepest = 3;

  /// Stores a value and returns its address; null for a dropped value.
  Json *store(Json value) {
    if (dropped > 0 || containers.size() > deepest)
      return nullptr;
    if (containers.empty())
      return &(root = std::move(value));
    Json &container = *containers.back();
    if (container.is_array()) {
      container.push_back(std::move(value));
      return &container.back();
    }
    auto [member, isNew] =
        container.get_ref<Json::object_t &>().emplace(std::move(name), std::move(value));
    if (!isNew)
      repeated = member->first;
    return &member->second;
  }

  /// Adds a value. Returns false, which ends parsing, if a key was repeated.
  bool add(Json value) {
    store(std::move(value));
    return repeated.empty();
  }

  bool open(Json value) {
    if (Json *stored = store(std::move(value)))
      containers.push_back(stored);
    else
      ++dropped;
    return repeated.empty();
  }

  bool close() {
    if (dropped > 0)
      --dropped;
    else
      containers.pop_back();
    return true;
  }

  // Appending to a container may move its elements, but an open container is always the last
  // element, so these pointers remain valid.
  std::vector<Json *> containers;
  std::string name;
  size_t dropped = 0; // Number of open containers that are dropped.
};

} // namespace

Json parseJsonObject(const std::string &what, const std::string &text) {
  ObjectBuilder builder;
  const bool isJson = Json::sax_parse(text, &builder);
  if (!builder.repeated.empty())
    userError(what, " holds '", builder.repeated, "' twice");
  if (!isJson || !builder.root.is_object())
    userError(what, " is not a JSON object");
  return std::move(builder.root);
}

} // namespace mtc::runtime
