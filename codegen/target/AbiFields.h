//===- AbiFields.h - Named fields of the program's ABI structs --------------------------------===//
//
// The tables of a program are structs of the ABI, which the runtime reads with C's layout. The
// compiler names each field that it writes, so a missing or misplaced field is a compile-time error
// of the compiler itself:
//
//   c.record(field<&MtcFunction::operation_count>(n), field<&MtcFunction::operations>(table))
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_TARGET_ABIFIELDS_H
#define MTC_CODEGEN_TARGET_ABIFIELDS_H

#include <cstddef>
#include <type_traits>
#include <utility>

namespace mtc {

/// The value of one field. `member` is the pointer to member of its struct.
template <auto member, typename Value> struct Field {
  Value value;
};
template <auto member, typename Value> Field<member, Value> field(Value value) {
  return {std::move(value)};
}

namespace abi {

template <typename Member> struct MemberTraits;
template <typename S, typename F> struct MemberTraits<F S::*> {
  using Struct = S;
  using Type = F;
};
template <auto member> using FieldType = MemberTraits<decltype(member)>::Type;

template <auto first, auto...> struct FirstMember {
  using Struct = MemberTraits<decltype(first)>::Struct;
};
template <auto... members> using StructOf = FirstMember<members...>::Struct;

/// Converts to any type, to probe aggregate initialization.
struct Anything {
  template <typename T> constexpr operator T() const;
};
template <typename Struct, std::size_t... i>
constexpr bool takesInitializers(std::index_sequence<i...>) {
  return requires { Struct{(static_cast<void>(i), Anything())...}; };
}
/// Returns the number of fields of an aggregate. Each element of an array counts as a field.
template <typename Struct, std::size_t count = 0> constexpr std::size_t countFields() {
  if constexpr (takesInitializers<Struct>(std::make_index_sequence<count + 1>()))
    return countFields<Struct, count + 1>();
  else
    return count;
}

/// Returns whether the members are all fields of their struct, in order.
template <auto... members> constexpr bool areAllFields() {
  using Struct = StructOf<members...>;
  Struct object = {};
  const void *places[] = {&(object.*members)...};
  for (std::size_t i = 1; i < sizeof...(members); ++i)
    if (!(places[i - 1] < places[i]))
      return false;
  constexpr std::size_t given =
      ((std::is_array_v<FieldType<members>> ? std::extent_v<FieldType<members>> : 1) + ...);
  return given == countFields<Struct>();
}

/// Returns the offset of a member in its struct.
template <auto member> std::size_t offsetOf() {
  static constexpr StructOf<member> object = {};
  return static_cast<std::size_t>(reinterpret_cast<const char *>(&(object.*member)) -
                                  reinterpret_cast<const char *>(&object));
}

} // namespace abi
} // namespace mtc

#endif // MTC_CODEGEN_TARGET_ABIFIELDS_H
