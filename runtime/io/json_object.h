// JSON objects of files, in which no key may occur twice.
#ifndef MTC_RUNTIME_IO_JSON_OBJECT_H
#define MTC_RUNTIME_IO_JSON_OBJECT_H

#include "runtime/support/failure.h"

#include <nlohmann/json.hpp>

#include <array>
#include <set>
#include <string>

namespace mtc::runtime {

/// Parses the object in `text`. A mistake of the user, in a sentence about `what`, if it is none or
/// has a key twice, of which readers would differ on the one that is meant. Values deeper than
/// three levels (an array in an object in the object) are dropped.
inline nlohmann::json parseJsonObject(const std::string &what, const std::string &text) {
  using Json = nlohmann::json;
  constexpr int deepest = 3;
  std::array<std::set<std::string>, deepest + 2> keys; // of the object that is open at a depth
  std::string repeated;
  auto watch = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth <= deepest && event == Json::parse_event_t::object_start)
      keys[static_cast<size_t>(depth) + 1].clear();
    if (depth <= deepest && event == Json::parse_event_t::key &&
        !keys[static_cast<size_t>(depth)].insert(value.get<std::string>()).second)
      repeated = value.get<std::string>();
    return depth <= deepest;
  };
  Json object = Json::parse(text, watch, false);
  if (!object.is_object())
    userError(what, " is not a JSON object");
  if (!repeated.empty())
    userError(what, " holds '", repeated, "' twice");
  return object;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_JSON_OBJECT_H
