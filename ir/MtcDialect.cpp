//===- MtcDialect.cpp - Registration, types and attributes of the mtc dialect -----------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Scalar.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/KernelPlans.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

#include "ir/MtcCallInterfaces.cpp.inc"
#include "ir/MtcDialect.cpp.inc"
#include "ir/MtcEnums.cpp.inc"
#include "ir/MtcInterfaces.cpp.inc"

/// A keyword or a quoted name.
static ParseResult parseName(AsmParser &parser, std::string &name) {
  return parser.parseKeywordOrString(&name);
}
static void printName(AsmPrinter &printer, StringRef name) { printer.printKeywordOrString(name); }

/// `, missing` of an initializer; empty if it is not missing.
static ParseResult parseMissing(AsmParser &parser, bool &missing) {
  missing = succeeded(parser.parseOptionalComma());
  return missing ? parser.parseKeyword("missing") : ParseResult::success();
}
static void printMissing(AsmPrinter &printer, bool missing) {
  if (missing)
    printer << ", missing";
}

/// `, transposed` of a stored matrix; empty if it is not transposed.
static ParseResult parseTransposed(AsmParser &parser, bool &transposed) {
  transposed = succeeded(parser.parseOptionalComma());
  return transposed ? parser.parseKeyword("transposed") : ParseResult::success();
}
static void printTransposed(AsmPrinter &printer, bool transposed) {
  if (transposed)
    printer << ", transposed";
}

/// A list of integers such as `[2, 3]`, which may be empty.
static ParseResult parseIntegers(AsmParser &parser, SmallVector<int64_t> &integers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(integers.emplace_back()); });
}
static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> integers) {
  printer << '[' << integers << ']';
}

/// `, parts = [...]` of an image; empty if it has no parts.
static ParseResult parseParts(AsmParser &parser, SmallVector<ImagePartAttr> &parts) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("parts") || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    auto part = dyn_cast_or_null<ImagePartAttr>(ImagePartAttr::parse(parser, Type()));
    if (part)
      parts.push_back(part);
    return success(bool(part));
  });
}
static void printParts(AsmPrinter &printer, ArrayRef<ImagePartAttr> parts) {
  if (parts.empty())
    return;
  printer << ", parts = [";
  llvm::interleaveComma(parts, printer, [&](ImagePartAttr part) { part.print(printer); });
  printer << ']';
}

#define GET_TYPEDEF_CLASSES
#include "ir/MtcTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/MtcAttributes.cpp.inc"

void MtcDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/MtcTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/MtcAttributes.cpp.inc"
      >();
  registerMtcDialectOperations(this);
  addInterfaces<KernelPlans>();
}

Operation *MtcDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value); elements && elements.getType() == type)
    return mtc::ConstantOp::create(builder, loc, type, elements);
  // Constants in kernel bodies are scalars of arith.
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

int64_t mtc::elementBytes(Type element) {
  return element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8;
}

int64_t mtc::byteSize(RankedTensorType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

int64_t mtc::paddedBytes(int64_t bytes) { return llvm::alignTo(bytes, 64); }

bool mtc::isUnsigned(Type element) { return element.isUnsignedInteger(); }

bool mtc::isDifferentiable(Type type) {
  return isa<RankedTensorType>(type) && isa<FloatType>(getElementTypeOrSelf(type));
}

/// Counts one operation per element of the results, and one memory access per operand and result.
Cost mtc::detail::defaultCost(Operation *op) {
  Cost cost;
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      cost.bytes += byteSize(tensor);
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      cost.bytes += byteSize(tensor);
      cost.flops += tensor.getNumElements();
    }
  if (op->hasTrait<mtc::View>())
    return {};
  return cost;
}
