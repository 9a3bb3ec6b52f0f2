#include "runtime/io/npz.h"

#include "runtime/io/npy.h"
#include "runtime/io/zip.h"
#include "runtime/support/failure.h"
#include "support/terminal/suggestions.h"

#include <algorithm>

namespace mtc::runtime {

/// Returns the name of the array in a member: np.savez appends `.npy`.
static std::string arrayOf(const ZipMember &member) {
  constexpr std::string_view ending = ".npy";
  return member.name.ends_with(ending) ? member.name.substr(0, member.name.size() - ending.size())
                                       : member.name;
}

ArrayOnDisk openNpz(const std::string &path, const std::string &array,
                    const std::string &fallback) {
  const ZipFile archive(path);
  const std::vector<ZipMember> &members = archive.members();
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const ZipMember &member : members)
    names.push_back(arrayOf(member));
  const std::string &wanted = !array.empty() ? array : names.size() == 1 ? names.front() : fallback;
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end()) {
    const std::string held = terminal::listNames(names);
    if (array.empty() && !names.empty())
      userError(path, ": holds several arrays (", held, "); choose one with ", path, ":ARRAY");
    userError(path, ": has no array '", wanted, "'", terminal::suggestNames(wanted, names),
              "; it holds ", held);
  }
  const ZipMember &member = members[static_cast<size_t>(found - names.begin())];
  const ZipContent content = archive.open(member);
  return openNpy(content.file, content.offset, member.bytes, path + ":" + *found);
}

} // namespace mtc::runtime
