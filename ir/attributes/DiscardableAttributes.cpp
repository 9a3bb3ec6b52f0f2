//===- DiscardableAttributes.cpp - Verifier of discardable attributes -------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/Mtc.h"
#include "ir/attributes/InitialRow.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mtc;

namespace {

enum class Holder { Module, Function, Operation, Argument, Result };

struct KnownAttribute {
  StringLiteral name;
  std::initializer_list<Holder> holders;
  bool (*accepts)(Attribute);
  StringLiteral expected;
};

} // namespace

template <typename T> static bool is(Attribute value) { return isa<T>(value); }

static const KnownAttribute knownAttributes[] = {
    {targetAttribute, {Holder::Module}, is<TargetAttrInterface>, "a target"},
    {techniquesAttribute, {Holder::Module}, is<ArrayAttr>, "names of techniques"},
    {tooSlowAttribute, {Holder::Module}, is<ArrayAttr>, "a peak and seconds"},
    {hasShapesAttribute, {Holder::Module}, is<UnitAttr>, "unit"},
    {gradientStagesAttribute, {Holder::Module}, is<DenseI64ArrayAttr>, "array of integers"},
    {settingsAttribute, {Holder::Module}, is<DictionaryAttr>, "flags of settings"},
    {variablesAttribute, {Holder::Module}, is<ArrayAttr>, "names of variables"},
    {nameAttribute, {Holder::Argument, Holder::Result}, is<StringAttr>, "a string"},
    {attentionAttribute, {Holder::Function}, is<AttentionReportAttr>, "#mtc.attention_report"},
    {separateArenaAttribute, {Holder::Function}, is<UnitAttr>, "unit"},
    {bodyAttribute, {Holder::Function}, is<DenseI64ArrayAttr>, "two integers"},
    {differentiatedAttribute, {Holder::Result}, is<UnitAttr>, "unit"},
    {recomputedAttribute, {Holder::Operation}, is<UnitAttr>, "unit"},
    {inTilesAttribute, {Holder::Operation}, is<UnitAttr>, "unit"},
    {algorithmAttribute, {Holder::Operation}, is<CallAlgorithmAttr>, "call algorithm"},
    {quantizationAttribute, {Holder::Operation}, is<QuantizationMapAttr>, "#mtc.quantization"},
    {toleranceAttribute, {Holder::Operation}, is<FloatAttr>, "a number"},
    {chunksAttribute, {Holder::Operation}, is<AxisSplitAttr>, "#mtc.axis_split"},
    {addendsAttribute, {Holder::Operation}, is<UnitAttr>, "unit"},
    {fixedOrderAttribute, {Holder::Operation}, is<UnitAttr>, "unit"},
    {paddedAttribute, {Holder::Operation}, is<UnitAttr>, "unit"},
    {zeroRowAttribute, {Holder::Operation}, is<IntegerAttr>, "an integer"}};

static LogicalResult verify(Operation *op, Holder holder, StringRef described,
                            NamedAttribute attribute) {
  for (const KnownAttribute &known : knownAttributes) {
    if (attribute.getName() != known.name || !llvm::is_contained(known.holders, holder))
      continue;
    if (known.accepts(attribute.getValue()))
      return success();
    return op->emitError() << "attribute '" << known.name << "' is " << attribute.getValue()
                           << ", expected " << known.expected;
  }
  return op->emitError() << "the mtc dialect has no attribute '" << attribute.getName().getValue()
                         << "' of " << described;
}

LogicalResult MtcDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (isa<ModuleOp>(op))
    return verify(op, Holder::Module, "a module", attribute);
  if (isa<FunctionOpInterface>(op))
    return verify(op, Holder::Function, "a function", attribute);
  return verify(op, Holder::Operation, "an operation", attribute);
}

LogicalResult MtcDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                   NamedAttribute attribute) {
  return verify(op, Holder::Argument, "an argument", attribute);
}

LogicalResult MtcDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                      NamedAttribute attribute) {
  return verify(op, Holder::Result, "a result", attribute);
}
