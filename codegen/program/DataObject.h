//===- DataObject.h - Object file of large tables ---------------------------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_DATAOBJECT_H
#define MTC_CODEGEN_PROGRAM_DATAOBJECT_H

#include "codegen/target/AbiFields.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc {

/// Builds an object file with arrays of ABI structs and the data to which they point. It needs
/// hardly more memory than the file, where LLVM's constants and their emission need ten times as
/// much.
class DataObject {
public:
  /// The address of data, for a pointer in a struct. Null without a value.
  using Address = std::optional<uint64_t>;

  /// Adds an array. Returns null for an empty one.
  Address addNumbers(llvm::ArrayRef<int64_t> numbers);
  /// Adds a null-terminated string. Equal strings are shared.
  Address addString(llvm::StringRef text);
  /// Adds a struct without pointers, from all its fields. Structs of one type that are added one
  /// after the other are an array, whose address is that of the first.
  template <auto... members, typename... Values>
  Address addStruct(const Field<members, Values> &...fields) {
    alignData();
    return append(data, fields...);
  }

  /// Begins an array of structs that a symbol with hidden visibility names. `bytes` is its size,
  /// for which memory is reserved.
  void beginTable(std::string symbol, size_t bytes);
  /// Adds a struct to the array, from all its fields: numbers, and addresses for pointers.
  template <auto... members, typename... Values>
  void addEntry(const Field<members, Values> &...fields) {
    append(tables, fields...);
  }

  /// Returns the object file for a 64-bit x86 or Arm processor.
  std::unique_ptr<llvm::MemoryBuffer> write(const llvm::Triple &triple) const;

private:
  void alignData() { data.resize((data.size() + alignment - 1) / alignment * alignment); }

  template <auto... members, typename... Values>
  uint64_t append(std::vector<char> &section, const Field<members, Values> &...fields) {
    static_assert(abi::areAllFields<members...>(), "not the struct's fields in their order");
    const uint64_t begin = section.size();
    section.resize(begin + sizeof(abi::StructOf<members...>)); // Padding is zero.
    (set<members>(section, begin + abi::offsetOf<members>(), fields.value), ...);
    return begin;
  }

  template <auto member, typename Value>
  void set(std::vector<char> &section, uint64_t at, const Value &value) {
    using Type = abi::FieldType<member>;
    if constexpr (std::is_pointer_v<Type>) {
      const Address address = value;
      if (address)
        pointers.push_back({at, *address});
    } else {
      const auto number = static_cast<Type>(value);
      std::memcpy(section.data() + at, &number, sizeof(number));
    }
  }

  static constexpr size_t alignment = 8; ///< of structs and arrays of numbers

  struct Pointer {
    uint64_t at;     ///< in the tables
    uint64_t target; ///< in the data
  };
  struct Symbol {
    std::string name;
    uint64_t begin; ///< in the tables
  };
  std::vector<char> tables, data;
  std::vector<Pointer> pointers;
  std::vector<Symbol> symbols;
  llvm::StringMap<uint64_t> strings; ///< addresses by text
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_DATAOBJECT_H
