//===- DataObject.cpp - Object file of large tables -------------------------------------------===//

#include "codegen/program/DataObject.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <cassert>
#include <cstring>

using namespace mtc;

namespace elf = llvm::ELF;

DataObject::Address DataObject::addNumbers(llvm::ArrayRef<int64_t> numbers) {
  if (numbers.empty())
    return std::nullopt;
  alignData();
  const uint64_t begin = data.size();
  const auto *bytes = reinterpret_cast<const char *>(numbers.data());
  data.insert(data.end(), bytes, bytes + numbers.size() * sizeof(int64_t));
  return begin;
}

DataObject::Address DataObject::addString(llvm::StringRef text) {
  auto [known, isNew] = strings.try_emplace(text, data.size());
  if (isNew) {
    data.insert(data.end(), text.begin(), text.end());
    data.push_back('\0');
  }
  return known->second;
}

void DataObject::beginTable(std::string symbol, size_t bytes) {
  symbols.push_back({std::move(symbol), tables.size()});
  tables.reserve(tables.size() + bytes);
}

namespace {

/// The sections of the file, by number.
enum SectionNumber : uint16_t {
  dataSection = 1,
  tableSection,
  relocationSection,
  stackSection,
  symbolSection,
  symbolNameSection,
  sectionNameSection,
  sectionCount
};

/// An ELF file whose sections have been laid out.
class ElfFile {
public:
  /// Lays out a section after the previous one.
  elf::Elf64_Shdr &add(SectionNumber number, llvm::StringRef name, uint32_t type, uint64_t bytes,
                       uint64_t alignment) {
    elf::Elf64_Shdr &header = headers[number];
    header.sh_name = static_cast<uint32_t>(names.size());
    names += name;
    names += '\0';
    header.sh_type = type;
    header.sh_offset = end = llvm::alignTo(end, alignment);
    header.sh_size = bytes;
    header.sh_addralign = alignment;
    end += bytes;
    return header;
  }

  /// Adds the section of the sections' names and allocates the file, whose bytes are 0.
  void allocate(uint16_t machine) {
    constexpr llvm::StringRef own = ".shstrtab";
    add(sectionNameSection, own, elf::SHT_STRTAB, names.size() + own.size() + 1, 1);
    end = llvm::alignTo(end, alignof(elf::Elf64_Shdr));
    buffer = llvm::WritableMemoryBuffer::getNewMemBuffer(end + sizeof(headers), "tables.o");
    elf::Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, elf::ElfMagic, std::strlen(elf::ElfMagic));
    header.e_ident[elf::EI_CLASS] = elf::ELFCLASS64;
    header.e_ident[elf::EI_DATA] = elf::ELFDATA2LSB;
    header.e_ident[elf::EI_VERSION] = elf::EV_CURRENT;
    header.e_type = elf::ET_REL;
    header.e_machine = machine;
    header.e_version = elf::EV_CURRENT;
    header.e_shoff = end;
    header.e_ehsize = sizeof(elf::Elf64_Ehdr);
    header.e_shentsize = sizeof(elf::Elf64_Shdr);
    header.e_shnum = sectionCount;
    header.e_shstrndx = sectionNameSection;
    std::memcpy(buffer->getBufferStart(), &header, sizeof(header));
    std::memcpy(buffer->getBufferStart() + end, headers.data(), sizeof(headers));
    llvm::copy(names, begin(sectionNameSection));
  }

  char *begin(SectionNumber number) { return buffer->getBufferStart() + headers[number].sh_offset; }
  std::unique_ptr<llvm::MemoryBuffer> take() { return std::move(buffer); }

private:
  std::array<elf::Elf64_Shdr, sectionCount> headers = {};
  std::string names = std::string(1, '\0');
  uint64_t end = sizeof(elf::Elf64_Ehdr);
  std::unique_ptr<llvm::WritableMemoryBuffer> buffer;
};

} // namespace

std::unique_ptr<llvm::MemoryBuffer> DataObject::write(const llvm::Triple &triple) const {
  assert((triple.isX86_64() || triple.isAArch64(64)) && "a processor of programs");
  // The relocations refer to the symbol of the data, which is local.
  constexpr uint32_t dataSymbol = 1, firstGlobal = 2;
  std::vector<elf::Elf64_Sym> table(firstGlobal);
  table[dataSymbol].setBindingAndType(elf::STB_LOCAL, elf::STT_SECTION);
  table[dataSymbol].st_shndx = dataSection;
  std::string names(1, '\0');
  for (size_t i = 0; i < symbols.size(); ++i) {
    elf::Elf64_Sym &entry = table.emplace_back();
    entry.st_name = static_cast<uint32_t>(names.size());
    entry.setBindingAndType(elf::STB_GLOBAL, elf::STT_OBJECT);
    entry.st_other = elf::STV_HIDDEN;
    entry.st_shndx = tableSection;
    entry.st_value = symbols[i].begin;
    entry.st_size =
        (i + 1 < symbols.size() ? symbols[i + 1].begin : tables.size()) - symbols[i].begin;
    names += symbols[i].name;
    names += '\0';
  }

  ElfFile file;
  constexpr uint64_t lineBytes = 64;
  file.add(dataSection, ".rodata", elf::SHT_PROGBITS, data.size(), lineBytes).sh_flags =
      elf::SHF_ALLOC;
  file.add(tableSection, ".data.rel.ro", elf::SHT_PROGBITS, tables.size(), lineBytes).sh_flags =
      elf::SHF_ALLOC | elf::SHF_WRITE;
  elf::Elf64_Shdr &relocations =
      file.add(relocationSection, ".rela.data.rel.ro", elf::SHT_RELA,
               pointers.size() * sizeof(elf::Elf64_Rela), alignof(elf::Elf64_Rela));
  relocations.sh_flags = elf::SHF_INFO_LINK;
  relocations.sh_link = symbolSection;
  relocations.sh_info = tableSection;
  relocations.sh_entsize = sizeof(elf::Elf64_Rela);
  // The stack is not executable.
  file.add(stackSection, ".note.GNU-stack", elf::SHT_PROGBITS, 0, 1);
  elf::Elf64_Shdr &symbolTable =
      file.add(symbolSection, ".symtab", elf::SHT_SYMTAB, table.size() * sizeof(elf::Elf64_Sym),
               alignof(elf::Elf64_Sym));
  symbolTable.sh_link = symbolNameSection;
  symbolTable.sh_info = firstGlobal;
  symbolTable.sh_entsize = sizeof(elf::Elf64_Sym);
  file.add(symbolNameSection, ".strtab", elf::SHT_STRTAB, names.size(), 1);
  file.allocate(triple.isX86_64() ? elf::EM_X86_64 : elf::EM_AARCH64);

  llvm::copy(data, file.begin(dataSection));
  llvm::copy(tables, file.begin(tableSection));
  char *next = file.begin(relocationSection);
  for (const Pointer &pointer : pointers) {
    elf::Elf64_Rela relocation = {};
    relocation.r_offset = pointer.at;
    relocation.setSymbolAndType(dataSymbol, triple.isX86_64() ? unsigned(elf::R_X86_64_64)
                                                              : unsigned(elf::R_AARCH64_ABS64));
    relocation.r_addend = static_cast<int64_t>(pointer.target);
    std::memcpy(next, &relocation, sizeof(relocation));
    next += sizeof(relocation);
  }
  std::memcpy(file.begin(symbolSection), table.data(), table.size() * sizeof(elf::Elf64_Sym));
  llvm::copy(names, file.begin(symbolNameSection));
  return file.take();
}
