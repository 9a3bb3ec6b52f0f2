// Output folders that appear under their name completely or not at all.
#ifndef MTC_RUNTIME_IO_PENDING_FOLDER_H
#define MTC_RUNTIME_IO_PENDING_FOLDER_H

#include <functional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Files are written to a temporary folder beside the target. `commit` exchanges the folders and
/// removes the previous one; the destructor of an uncommitted object removes the temporary one.
/// Temporary folders of killed processes are removed by the next object for the same target.
class PendingFolder {
public:
  explicit PendingFolder(const std::string &path);
  ~PendingFolder();
  PendingFolder(const PendingFolder &) = delete;
  PendingFolder &operator=(const PendingFolder &) = delete;

  /// Returns the path of a file until `commit`.
  std::string pathOf(const std::string &name) const { return temporary + "/" + name; }
  /// Makes the folder durable and gives it its name. Throws a system error if it cannot.
  void commit();

private:
  std::string target, temporary;
};

/// Returns the names of a folder's entries, sorted; none if it cannot be read.
std::vector<std::string> entriesOf(const std::string &folder);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_PENDING_FOLDER_H
