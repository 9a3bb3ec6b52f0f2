//===- KeepWorkingCopies.cpp - Keeps narrow working copies of parameters ----------------------===//

#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {
#define GEN_PASS_DEF_KEEPWORKINGCOPIES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Reads of an f32 variable in all functions.
struct Reads {
  SmallVector<ReadOp> all;
  SmallVector<CastOp> narrow; ///< Casts of the variable to narrow storage.
  bool isReadWide = false;
};

class Keeper {
public:
  explicit Keeper(ModuleOp module) : symbols(module) {
    module.walk([&](ReadOp read) { find(read); });
  }

  void keep(VariableOp variable) {
    auto found = readsOf.find(variable.getSymName());
    if (found == readsOf.end() || found->second.narrow.empty())
      return;
    Reads &reads = found->second;
    Type narrow = typeOf(reads.narrow.front()).getElementType();
    // Exported variables must keep all their bits.
    bool isParameter = variable.getRole() != Role::Constant;
    bool isData = isa<ElementsAttr>(variable.getInitial());
    if (isParameter && narrow.isBF16() && !isData)
      return split(variable, reads);
    if (!isParameter && !reads.isReadWide && !isData)
      return replace(variable, reads, narrow);
    copy(variable, reads, narrow);
  }

private:
  void find(ReadOp read) {
    Reads &reads = readsOf[read.getVariable()];
    reads.all.push_back(read);
    for (Operation *user : read->getUsers())
      if (auto cast = dyn_cast<CastOp>(user); cast && cast.getStorage())
        reads.narrow.push_back(cast);
      else
        reads.isReadWide = true;
  }

  /// Adds a variable that stores another representation of `variable`.
  VariableOp addCompanion(VariableOp variable, Role role, StringRef suffix, Type element) {
    OpBuilder builder(variable.getContext());
    auto added = VariableOp::create(
        builder, variable.getLoc(), role, (variable.getSymName() + "." + suffix).str(),
        variable.getTensorType().clone(element), AsParameterAttr::get(variable.getContext()),
        FlatSymbolRefAttr::get(variable.getSymNameAttr()));
    symbols.insert(added, std::next(variable->getIterator()));
    return added;
  }

  static Value read(ReadOp beside, VariableOp variable) {
    OpBuilder builder(beside);
    return TensorBuilder(beside.getLoc(), builder)
        .create<ReadOp>(variable.getTensorType(), variable.getSymName());
  }

  /// Changes the type of the variable to the narrow one.
  void replace(VariableOp variable, Reads &reads, Type narrow) {
    variable.setType(variable.getTensorType().clone(narrow));
    for (ReadOp wide : reads.all)
      replaceNarrow(wide, read(wide, variable));
  }

  /// Splits the variable into the upper and lower halves of its elements.
  void split(VariableOp variable, Reads &reads) {
    OpBuilder builder(variable.getContext());
    VariableOp low = addCompanion(variable, Role::LowHalf, "low", builder.getI16Type());
    variable.setType(variable.getTensorType().clone(builder.getBF16Type()));
    for (ReadOp wide : reads.all) {
      Value high = read(wide, variable);
      replaceNarrow(wide, high);
      if (wide->use_empty())
        continue;
      OpBuilder here(wide);
      Value whole =
          JoinHalvesOp::create(here, wide.getLoc(), wide.getType(), high, read(wide, low));
      wide->replaceAllUsesWith(ValueRange{whole});
    }
  }

  void copy(VariableOp variable, Reads &reads, Type narrow) {
    VariableOp copied = addCompanion(variable, Role::Copy, typeName(typeCode(narrow)), narrow);
    for (CastOp cast : reads.narrow) {
      cast->replaceAllUsesWith(ValueRange{read(cast.getInput().getDefiningOp<ReadOp>(), copied)});
      cast->erase();
    }
  }

  static void replaceNarrow(ReadOp wide, Value narrow) {
    for (Operation *user : llvm::make_early_inc_range(wide->getUsers()))
      if (auto cast = dyn_cast<CastOp>(user); cast && cast.getStorage()) {
        cast->replaceAllUsesWith(ValueRange{narrow});
        cast->erase();
      }
  }

  SymbolTable symbols;
  llvm::StringMap<Reads> readsOf;
};

struct KeepWorkingCopiesPass : mtc::impl::KeepWorkingCopiesBase<KeepWorkingCopiesPass> {
  void runOnOperation() override {
    Keeper keeper(getOperation());
    for (auto variable : llvm::to_vector(getOperation().getOps<VariableOp>()))
      if (llvm::is_contained({Role::Parameter, Role::Frozen, Role::Constant}, variable.getRole()) &&
          variable.getTensorType().getElementType().isF32())
        keeper.keep(variable);
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto read : llvm::make_early_inc_range(function.front().getOps<ReadOp>()))
        if (read->use_empty())
          read->erase();
  }
};

} // namespace
