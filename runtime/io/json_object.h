// JSON objects without duplicate keys.
#ifndef MTC_RUNTIME_IO_JSON_OBJECT_H
#define MTC_RUNTIME_IO_JSON_OBJECT_H

#include <nlohmann/json.hpp>

#include <string>

namespace mtc::runtime {

/// Parses the object in `text`, in O(n log n). Throws a user error, in a sentence about `what`, if
/// `text` is not an object or has a duplicate key. Duplicate keys are refused because JSON parsers
/// differ in the value that they return for them. Values nested deeper than three levels (an array
/// in an object in the object) are dropped.
nlohmann::json parseJsonObject(const std::string &what, const std::string &text);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_JSON_OBJECT_H
