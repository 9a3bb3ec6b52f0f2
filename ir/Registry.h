//===- Registry.h - Tables of records, filled by functions ------------------------------------===//
//
// Losses, optimizers, techniques and ONNX operators are records in a table. Each source file of
// their folder defines one function that adds its records, such as `void
// addElementLosses(std::vector<Loss> &losses)` in Element.cpp; CMake lists the files. An embedding
// program adds its own records by a function of the same form and a Registration.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_REGISTRY_H
#define MTC_IR_REGISTRY_H

#include "llvm/ADT/STLExtras.h"

#include <initializer_list>
#include <vector>

namespace mtc {

template <typename Table> class Registration;

/// A table and the functions that fill it.
template <typename Table> class Registry {
public:
  using Function = void (*)(Table &);

  Registry(std::initializer_list<Function> functions) : functions(functions) { fill(); }
  Registry(const Registry &) = delete;
  Registry &operator=(const Registry &) = delete;

  /// Returns the compiler's registry. Each table specializes this function.
  static Registry &get();

  /// Returns the records of the compiler by file name, then those of registrations.
  const Table &getTable() const { return table; }

private:
  friend Registration<Table>;

  void fill() {
    table = {};
    for (Function add : functions)
      add(table);
  }

  std::vector<Function> functions;
  Table table;
};

/// Adds records of an embedding program to a table for its lifetime:
///
///   const Registration registration(addOwnLosses);
///
/// The beginning and the end of a registration invalidate pointers to the records of the table.
/// A registration therefore outlives all compilations that use it. It begins before the first
/// query of flags, since flags and their help are generated once. Not thread-safe.
template <typename Table> class Registration {
public:
  explicit Registration(void (*add)(Table &)) : add(add) {
    Registry<Table>::get().functions.push_back(add);
    Registry<Table>::get().fill();
  }
  ~Registration() {
    llvm::erase(Registry<Table>::get().functions, add);
    Registry<Table>::get().fill();
  }
  Registration(const Registration &) = delete;
  Registration &operator=(const Registration &) = delete;

private:
  void (*add)(Table &);
};

} // namespace mtc

#endif // MTC_IR_REGISTRY_H
