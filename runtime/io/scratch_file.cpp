// Creation of unnamed files, and page-aligned reads and writes.
#include "runtime/io/scratch_file.h"

#include "runtime/abi/program.h"
#include "runtime/io/unnamed_file.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <new>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace mtc::runtime {

static constexpr int64_t page = MTC_PAGE;

BouncePages::BouncePages()
    : start(static_cast<char *>(std::aligned_alloc(static_cast<size_t>(page), bytes))) {
  if (!start)
    throw std::bad_alloc();
}

BouncePages::~BouncePages() { std::free(start); }

ScratchFile::ScratchFile(const std::string &folder, int64_t bytes)
    : folder(folder), size((bytes + page - 1) / page * page) {
  struct statfs system;
  if (statfs(folder.c_str(), &system) == 0 &&
      (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC))
    userError("--offload-dir ", folder,
              ": lies in memory, which is what the program is to save; choose a folder on a disk");
  descriptor = openUnnamedFile(folder, O_DIRECT);
  isDirect = descriptor >= 0;
  if (!isDirect && errno == EINVAL)
    descriptor = openUnnamedFile(folder);
  if (descriptor < 0)
    userError("--offload-dir ", folder, ": no file can be made there: ", std::strerror(errno));
  if (int error = posix_fallocate(descriptor, 0, size)) {
    close(descriptor);
    refuseSize(error);
  }
}

ScratchFile::~ScratchFile() { close(descriptor); }

void ScratchFile::refuseSize(int error) const {
  struct statvfs space;
  const std::string available =
      statvfs(folder.c_str(), &space) == 0
          ? text("; ", static_cast<int64_t>(space.f_bavail * space.f_frsize) >> 20,
                 " MiB are available")
          : std::string();
  systemError("--offload-dir ", folder, ": the program keeps ", size, " bytes (", size >> 20,
              " MiB) there while it runs, which cannot be reserved: ", std::strerror(error),
              available, ". Free some space, or choose a folder on another disk");
}

void ScratchFile::readPages(int64_t offset, char *to, int64_t count) const {
  while (count > 0) {
    ssize_t done = pread(descriptor, to, static_cast<size_t>(count), offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      systemError("--offload-dir ", folder,
                  ": what was kept there cannot be read: ", std::strerror(done < 0 ? errno : EIO));
    if (!isDirect)
      posix_fadvise(descriptor, offset, done, POSIX_FADV_DONTNEED);
    to += done;
    offset += done;
    count -= done;
  }
}

void ScratchFile::writePages(int64_t offset, const char *from, int64_t count) const {
  while (count > 0) {
    ssize_t done = pwrite(descriptor, from, static_cast<size_t>(count), offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      systemError("--offload-dir ", folder,
                  ": cannot be written: ", std::strerror(done < 0 ? errno : EIO));
    if (!isDirect) // Starting writeback now lets the pages leave the page cache soon.
      sync_file_range(descriptor, offset, done, SYNC_FILE_RANGE_WRITE);
    from += done;
    offset += done;
    count -= done;
  }
}

/// Calls whole(at, count) for the part of a range that is page-aligned in memory and in the file,
/// where `at` is its first byte in the range. Calls parts(at, count) for the rest, with at most as
/// many pages as the bounce buffer has.
template <typename Whole, typename Parts>
static void split(int64_t offset, const char *memory, int64_t bytes, const Whole &whole,
                  const Parts &parts) {
  int64_t at = 0;
  if (offset % page == 0 && reinterpret_cast<uintptr_t>(memory) % page == 0) {
    at = bytes / page * page;
    if (at)
      whole(0, at);
  }
  while (at < bytes) {
    const int64_t before = (offset + at) % page;
    const int64_t count = std::min(bytes - at, BouncePages::bytes - before);
    parts(at, count);
    at += count;
  }
}

void ScratchFile::read(int64_t offset, char *to, int64_t bytes, const BouncePages &bounce) const {
  split(
      offset, to, bytes, [&](int64_t at, int64_t count) { readPages(offset + at, to + at, count); },
      [&](int64_t at, int64_t count) {
        const int64_t begin = (offset + at) / page * page, before = offset + at - begin;
        readPages(begin, bounce.data(), (before + count + page - 1) / page * page);
        std::memcpy(to + at, bounce.data() + before, static_cast<size_t>(count));
      });
}

void ScratchFile::write(int64_t offset, const char *from, int64_t bytes,
                        const BouncePages &bounce) const {
  split(
      offset, from, bytes,
      [&](int64_t at, int64_t count) { writePages(offset + at, from + at, count); },
      [&](int64_t at, int64_t count) {
        // Preserve the other bytes of the first and the last page.
        const int64_t begin = (offset + at) / page * page, before = offset + at - begin;
        const int64_t pages = (before + count + page - 1) / page * page;
        if (before)
          readPages(begin, bounce.data(), page);
        if ((before + count) % page && (pages > page || !before))
          readPages(begin + pages - page, bounce.data() + pages - page, page);
        std::memcpy(bounce.data() + before, from + at, static_cast<size_t>(count));
        writePages(begin, bounce.data(), pages);
      });
}

} // namespace mtc::runtime
