#include "runtime/devices/cpu/threads/library_slots.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// The parts of a library's dynamic section that describe its slots.
struct DynamicSection {
  const ElfW(Sym) *symbols = nullptr;
  const char *names = nullptr;
  const ElfW(Rela) *calls = nullptr, *others = nullptr;
  size_t callBytes = 0, otherBytes = 0;

  explicit DynamicSection(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) address = entry->d_un.d_ptr;
      switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym) *>(address);
        break;
      case DT_STRTAB:
        names = reinterpret_cast<const char *>(address);
        break;
      case DT_JMPREL:
        calls = reinterpret_cast<const ElfW(Rela) *>(address);
        break;
      case DT_PLTRELSZ:
        callBytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        others = reinterpret_cast<const ElfW(Rela) *>(address);
        break;
      case DT_RELASZ:
        otherBytes = entry->d_un.d_val;
        break;
      default:
        break;
      }
    }
  }

  /// Returns the offset of the slot; -1 if the relocations have none.
  int64_t find(const char *name) const {
    if (!symbols || !names)
      return -1;
    auto findIn = [&](const ElfW(Rela) * relocations, size_t bytes) -> int64_t {
      for (size_t i = 0; relocations && i < bytes / sizeof(ElfW(Rela)); ++i)
        if (const auto symbol = ELF64_R_SYM(relocations[i].r_info);
            symbol && std::strcmp(names + symbols[symbol].st_name, name) == 0)
          return static_cast<int64_t>(relocations[i].r_offset);
      return -1;
    };
    const int64_t found = findIn(calls, callBytes);
    return found >= 0 ? found : findIn(others, otherBytes);
  }
};

} // namespace

void **findSlot(const char *definition, const char *name) {
  Dl_info info;
  link_map *library = nullptr;
  void *address = dlsym(RTLD_DEFAULT, definition);
  if (!address || !dladdr1(address, &info, reinterpret_cast<void **>(&library), RTLD_DL_LINKMAP) ||
      !library)
    return nullptr;
  const int64_t offset = DynamicSection(library->l_ld).find(name);
  return offset < 0 ? nullptr
                    : reinterpret_cast<void **>(library->l_addr + static_cast<uint64_t>(offset));
}

bool writeSlot(void **slot, void *function) {
  const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto *page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(slot) / size * size);
  // The page stays writable: other slots of it may be written by the loader.
  if (mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
    return false;
  std::atomic_ref<void *>(*slot).store(function, std::memory_order_release);
  return true;
}

} // namespace mtc::runtime
