// JSON objects of files, in which no key may occur twice.
#ifndef MTC_RUNTIME_IO_JSON_OBJECT_H
#define MTC_RUNTIME_IO_JSON_OBJECT_H

#include <nlohmann/json.hpp>

#include <string>

namespace mtc::runtime {

/// Parses the object in `text`, in linear time (times the logarithm of the number of keys). A
/// mistake of the user, in a sentence about `what`, if `text` is no object or has a key twice:
/// readers would differ on the value that is meant. Values deeper than three levels (an array in an
/// object in the object) are dropped.
nlohmann::json parseJsonObject(const std::string &what, const std::string &text);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_JSON_OBJECT_H
