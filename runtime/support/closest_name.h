// Spelling suggestions for mistyped names.
#ifndef MTC_RUNTIME_SUPPORT_CLOSEST_NAME_H
#define MTC_RUNTIME_SUPPORT_CLOSEST_NAME_H

#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns `; did you mean 'NAME'?` with the element of `known` at the smallest edit distance, or
/// "" if none is close.
std::string suggestion(const std::string &given, const std::vector<std::string> &known);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_CLOSEST_NAME_H
