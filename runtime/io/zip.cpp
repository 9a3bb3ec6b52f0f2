// The central directory of ZIP archives, and extraction by zlib.
#include "runtime/io/zip.h"

#include "runtime/abi/offload.h"
#include "runtime/io/unnamed_file.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <zlib.h>

namespace mtc::runtime {
namespace {

constexpr uint16_t stored = 0, deflated = 8;
constexpr uint32_t unknown32 = 0xffffffff; ///< the value is in the ZIP64 field
constexpr int64_t maxDirectory = int64_t{64} << 20;

/// Little-endian fields of a record.
class Record {
public:
  explicit Record(std::string_view bytes) : bytes(bytes) {}

  template <typename Number> Number at(size_t offset) const {
    Number value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  bool startsWith(std::string_view signature) const { return bytes.starts_with(signature); }
  int64_t size() const { return static_cast<int64_t>(bytes.size()); }

  std::string_view bytes;
};

std::string read(const InputFile &file, int64_t offset, int64_t bytes) {
  if (offset < 0 || bytes < 0 || offset > file.size() - bytes)
    userError(file.path(), ": is a damaged ZIP archive: it refers to byte ", offset,
              ", beyond its ", file.size(), " bytes");
  std::string text(static_cast<size_t>(bytes), '\0');
  file.read(offset, text.data(), bytes);
  return text;
}

/// The range of the central directory.
struct Directory {
  int64_t offset, bytes;
};

/// Finds the record at the end of the archive, which only a comment may follow.
Directory findDirectory(const InputFile &file) {
  constexpr int64_t endBytes = 22, locatorBytes = 20, end64Bytes = 56, maxComment = 0xffff;
  const int64_t start = std::max<int64_t>(0, file.size() - endBytes - maxComment);
  const std::string tail = read(file, start, file.size() - start);
  const size_t found = tail.rfind("PK\5\6");
  if (found == std::string::npos || tail.size() - found < endBytes)
    userError(file.path(), ": is no ZIP archive, or is incomplete; expected a file of np.savez");
  const Record end(std::string_view(tail).substr(found));
  const int64_t endOffset = start + static_cast<int64_t>(found);
  Directory directory = {end.at<uint32_t>(16), end.at<uint32_t>(12)};
  if (endOffset < locatorBytes)
    return directory;
  const std::string locator = read(file, endOffset - locatorBytes, locatorBytes);
  if (!Record(locator).startsWith("PK\6\7"))
    return directory;
  const std::string end64 = read(file, Record(locator).at<int64_t>(8), end64Bytes);
  if (!Record(end64).startsWith("PK\6\6"))
    userError(file.path(), ": is a damaged ZIP archive: it has no ZIP64 end record");
  return {Record(end64).at<int64_t>(48), Record(end64).at<int64_t>(40)};
}

/// Reads the ZIP64 field, which contains, in this order, those of the two sizes and the offset that
/// do not fit into 32 bits.
void readZip64(Record extra, ZipMember &member) {
  while (extra.bytes.size() >= 4) {
    const auto kind = extra.at<uint16_t>(0);
    const size_t bytes = std::min<size_t>(extra.at<uint16_t>(2), extra.bytes.size() - 4);
    if (kind == 1) {
      size_t at = 4;
      for (int64_t *number : {&member.bytes, &member.compressedBytes, &member.headerOffset})
        if (*number == unknown32 && at + 8 <= 4 + bytes) {
          *number = extra.at<int64_t>(at);
          at += 8;
        }
      return;
    }
    extra.bytes.remove_prefix(4 + bytes);
  }
}

/// Writes the bytes; throws an error that names the archive and the folder.
void writeAll(int descriptor, const std::string &name, const char *from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor, from, bytes);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      systemError(name, ": cannot be extracted to ", mtc_default_offload_folder(), ": ",
                  std::strerror(errno),
                  "; set TMPDIR to a folder on a disk with more space, or write the file with "
                  "np.savez, which does not compress");
    from += done;
    bytes -= static_cast<size_t>(done);
  }
}

/// The state of zlib for raw deflate data.
class Inflater {
public:
  explicit Inflater(const std::string &name) : name(name) {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;

  /// Adds compressed bytes and calls take(bytes, count) with the result. Returns whether the data
  /// has ended.
  template <typename Take> bool add(std::string &input, const Take &take) {
    stream.next_in = reinterpret_cast<Bytef *>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    while (true) {
      stream.next_out = reinterpret_cast<Bytef *>(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        userError(name, ": is damaged: its deflated bytes are invalid");
      take(output.data(), output.size() - stream.avail_out);
      if (status == Z_STREAM_END || stream.avail_out > 0)
        return status == Z_STREAM_END;
    }
  }

private:
  const std::string &name;
  z_stream stream{};
  std::string output = std::string(1 << 16, '\0');
};

} // namespace

ZipFile::ZipFile(const std::string &path) : file(std::make_shared<InputFile>(path)) {
  constexpr size_t entryBytes = 46;
  const Directory directory = findDirectory(*file);
  if (directory.bytes > maxDirectory)
    userError(path, ": has a directory of ", directory.bytes, " bytes; expected at most ",
              maxDirectory);
  const std::string text = read(*file, directory.offset, directory.bytes);
  Record rest(text);
  while (rest.bytes.size() >= entryBytes && rest.startsWith("PK\1\2")) {
    const size_t nameBytes = rest.at<uint16_t>(28), extraBytes = rest.at<uint16_t>(30),
                 commentBytes = rest.at<uint16_t>(32);
    const size_t bytes = entryBytes + nameBytes + extraBytes + commentBytes;
    if (bytes > rest.bytes.size())
      userError(path, ": is a damaged ZIP archive: its directory ends inside an entry");
    ZipMember member = {.name = std::string(rest.bytes.substr(entryBytes, nameBytes)),
                        .bytes = rest.at<uint32_t>(24),
                        .compressedBytes = rest.at<uint32_t>(20),
                        .headerOffset = rest.at<uint32_t>(42),
                        .checksum = rest.at<uint32_t>(16),
                        .method = rest.at<uint16_t>(10),
                        .isEncrypted = (rest.at<uint16_t>(8) & 1) != 0};
    readZip64(Record(rest.bytes.substr(entryBytes + nameBytes, extraBytes)), member);
    list.push_back(std::move(member));
    rest.bytes.remove_prefix(bytes);
  }
}

/// Returns the offset of the member's bytes, after its local header.
int64_t ZipFile::dataOffset(const ZipMember &member) const {
  constexpr int64_t headerBytes = 30;
  const std::string header = read(*file, member.headerOffset, headerBytes);
  if (!Record(header).startsWith("PK\3\4"))
    userError(file->path(), ": is a damaged ZIP archive: member '", member.name,
              "' has no header at byte ", member.headerOffset);
  const int64_t offset = member.headerOffset + headerBytes + Record(header).at<uint16_t>(26) +
                         Record(header).at<uint16_t>(28);
  if (member.bytes < 0 || member.compressedBytes < 0 ||
      offset > file->size() - member.compressedBytes)
    userError(file->path(), ": is incomplete: member '", member.name, "' has ",
              member.compressedBytes, " bytes from byte ", offset, " on, but the file has ",
              file->size());
  return offset;
}

ZipContent ZipFile::open(const ZipMember &member) const {
  if (member.isEncrypted)
    userError(file->path(), ": member '", member.name,
              "' is encrypted; expected a file of np.savez");
  if (member.method != stored && member.method != deflated)
    userError(file->path(), ": member '", member.name, "' is compressed by method ", member.method,
              "; expected a file of np.savez or np.savez_compressed");
  const int64_t offset = dataOffset(member);
  if (member.method == stored && member.bytes != member.compressedBytes)
    userError(file->path(), ": is a damaged ZIP archive: member '", member.name, "' is stored in ",
              member.compressedBytes, " bytes, but has ", member.bytes);
  if (member.method == stored)
    return {file, offset};
  return {extract(member, offset), 0};
}

std::shared_ptr<InputFile> ZipFile::extract(const ZipMember &member, int64_t offset) const {
  constexpr int64_t chunk = 1 << 16;
  const std::string name = file->path() + ":" + member.name, folder = mtc_default_offload_folder();
  const int descriptor = openUnnamedFile(folder);
  if (descriptor < 0)
    userError(name, ": no file can be created in ", folder,
              " to extract it: ", std::strerror(errno), "; set TMPDIR to a folder on a disk");
  auto extracted = std::make_shared<InputFile>(name, descriptor, member.bytes);
  Inflater inflater(name);
  int64_t written = 0;
  auto checksum = static_cast<uint32_t>(crc32(0, nullptr, 0));
  bool isDone = false;
  for (int64_t at = 0; at < member.compressedBytes && !isDone; at += chunk) {
    std::string input = read(*file, offset + at, std::min(chunk, member.compressedBytes - at));
    isDone = inflater.add(input, [&](const char *bytes, size_t count) {
      written += static_cast<int64_t>(count);
      if (written > member.bytes)
        userError(name, ": is damaged: it has more than the ", member.bytes,
                  " bytes of its directory entry");
      checksum = static_cast<uint32_t>(
          crc32(checksum, reinterpret_cast<const Bytef *>(bytes), static_cast<uInt>(count)));
      writeAll(descriptor, name, bytes, count);
    });
  }
  if (written != member.bytes || checksum != member.checksum)
    userError(name, ": is damaged: its size or checksum differs from its directory entry");
  return extracted;
}

} // namespace mtc::runtime
