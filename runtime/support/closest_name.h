// "Did you mean": the name that a user most likely meant.
#ifndef MTC_RUNTIME_SUPPORT_CLOSEST_NAME_H
#define MTC_RUNTIME_SUPPORT_CLOSEST_NAME_H

#include <string>
#include <vector>

namespace mtc::runtime {

/// `; did you mean 'NAME'?` with the closest of `known` by edits of single characters, or "" if
/// none is close.
std::string suggestion(const std::string &given, const std::vector<std::string> &known);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_CLOSEST_NAME_H
