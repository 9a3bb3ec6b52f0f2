// Members of ZIP archives: stored, or compressed by deflate.
#ifndef MTC_RUNTIME_IO_ZIP_H
#define MTC_RUNTIME_IO_ZIP_H

#include "runtime/io/input_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

struct ZipMember {
  std::string name;
  int64_t bytes = 0, compressedBytes = 0;
  int64_t headerOffset = 0; ///< offset of the local header
  uint32_t checksum = 0;    ///< CRC-32 of the uncompressed bytes
  uint16_t method = 0;      ///< 0: stored, 8: deflate
  bool isEncrypted = false;
};

/// The uncompressed bytes of a member: a range of a file.
struct ZipContent {
  std::shared_ptr<InputFile> file;
  int64_t offset = 0;
};

class ZipFile {
public:
  /// Reads the central directory (PKWARE's APPNOTE 6.3, with ZIP64). Throws a user error if the
  /// file is not an archive or is damaged.
  explicit ZipFile(const std::string &path);

  const std::vector<ZipMember> &members() const { return list; }

  /// Returns the bytes of a member. A stored member is read in place. A deflated one is extracted
  /// to a file without a name in $TMPDIR or /var/tmp, because its bytes cannot be accessed in
  /// random order; its checksum is verified. Throws a user error for other methods and for damaged
  /// members.
  ZipContent open(const ZipMember &member) const;

private:
  int64_t dataOffset(const ZipMember &member) const;
  std::shared_ptr<InputFile> extract(const ZipMember &member, int64_t offset) const;

  std::shared_ptr<InputFile> file;
  std::vector<ZipMember> list;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_ZIP_H
