//===- Shapes.cpp - Programs for several shapes of a model ------------------------------------===//

#include "passes/program/Shapes.h"

#include "ir/ReservedNames.h"
#include "ir/ScanBody.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Moves the operations of a module with another shape into a program.
class ShapeAdder {
public:
  ShapeAdder(ModuleOp program, ModuleOp other, DictionaryAttr dims, unsigned number)
      : program(program), other(other), symbols(program), otherSymbols(other), dims(dims),
        number(number) {}

  LogicalResult run() {
    for (auto variable : llvm::make_early_inc_range(other.getOps<VariableOp>()))
      if (failed(addVariable(variable)))
        return failure();
    for (auto function : llvm::make_early_inc_range(other.getOps<func::FuncOp>()))
      if (failed(addFunction(function)))
        return failure();
    return success();
  }

private:
  /// Returns whether the operations are equal, apart from their locations and the module that they
  /// are in.
  static bool areEqual(Operation *a, Operation *b) {
    return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::IgnoreLocations);
  }

  /// Shares a variable that the program has. Another value of it is one that was computed from the
  /// shape, such as a mask.
  LogicalResult addVariable(VariableOp variable) {
    Operation *known = symbols.lookup(variable.getSymName());
    if (known && areEqual(known, variable)) {
      variable.erase();
      return success();
    }
    if (variable.getRole() != Role::Constant)
      return emitError(variable.getLoc())
             << stringifyRole(variable.getRole()) << " '" << variable.getSymName()
             << "' depends on the sizes of --dim: it is " << variable.getTensorType() << " with "
             << dims << (known ? ", and another for the first sizes" : ", and absent for the first")
             << "; give each dimension of --dim one size";
    move(variable, nameForShape(variable.getSymName(), number));
    return success();
  }

  LogicalResult addFunction(func::FuncOp function) {
    if (function.getSymName() != updateName) {
      move(function, nameForShape(function.getSymName(), number));
      return success();
    }
    Operation *known = symbols.lookup(updateName);
    if (!known || !areEqual(known, function))
      return emitError(function.getLoc())
             << "the update depends on the sizes of --dim; give each dimension of --dim one size";
    function.erase();
    return success();
  }

  /// Moves an operation into the program under another name.
  void move(Operation *op, const std::string &name) {
    auto renamed = StringAttr::get(op->getContext(), name);
    if (failed(otherSymbols.rename(op, renamed)))
      llvm_unreachable("a symbol of the module can be renamed");
    otherSymbols.remove(op);
    op->remove();
    // Variables come before functions.
    Block::iterator place = program.getBody()->end();
    if (auto functions = program.getOps<func::FuncOp>(); isa<VariableOp>(op) && !functions.empty())
      place = (*functions.begin())->getIterator();
    symbols.insert(op, place);
  }

  ModuleOp program, other;
  SymbolTable symbols, otherSymbols;
  DictionaryAttr dims;
  unsigned number; ///< of the added shape
};

} // namespace

LogicalResult mtc::addShapes(ModuleOp program, DictionaryAttr dims,
                             MutableArrayRef<ProgramOfShape> others) {
  ProgramOp described = ProgramOp::find(program);
  auto shapeOf = [](ProgramOp of, DictionaryAttr sizes) {
    return ShapeAttr::get(of.getContext(), static_cast<int64_t>(of.getBatch()), sizes);
  };
  SmallVector<Attribute> shapes = {shapeOf(described, dims)};
  for (ProgramOfShape &other : others) {
    if (failed(ShapeAdder(program, *other.module, other.dims, shapes.size()).run()))
      return failure();
    shapes.push_back(shapeOf(ProgramOp::find(*other.module), other.dims));
  }
  described.setShapesAttr(ArrayAttr::get(program.getContext(), shapes));
  return success();
}
