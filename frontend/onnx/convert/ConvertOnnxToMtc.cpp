//===- ConvertOnnxToMtc.cpp - Conversion of graph @main to function @forward ------------------===//

#include "frontend/onnx/convert/Passes.h"
#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/OptionalOutputs.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "ir/TypeCode.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_CONVERTONNXTOMTCPASS
#include "frontend/onnx/convert/Passes.h.inc"

namespace {

/// Reports an error if the node has an operand or result of an element type that its operator does
/// not support.
LogicalResult checkElementTypes(Conversion &node, const Operator &definition) {
  for (Value operand : node.op().getInputs())
    if (auto initializer = operand.getDefiningOp<InitializerOp>();
        initializer && isPacked(getElementTypeOrSelf(initializer.getType())))
      return node.failure("the data of initializer \"" + initializer.getName() +
                          "\" is missing; put its external data file in the model's folder, or "
                          "export the model again with its weights");
  auto isSupported = [&](Type type) {
    if (!isa<RankedTensorType>(type))
      return true;
    Type element = getElementTypeOrSelf(type);
    return hasTypeCode(element) || (isPacked(element) && definition.acceptsPacked);
  };
  for (Type type : llvm::concat<const Type>(llvm::to_vector(node.op().getInputs().getTypes()),
                                            llvm::to_vector(node.op().getOutputs().getTypes())))
    if (!isSupported(type))
      return node.failure("element type " + llvm::to_string(getElementTypeOrSelf(type)) +
                          " is not supported; convert the model to another type");
  return success();
}

/// Defines all used results as empty constants if none of them has elements. Returns whether the
/// results are empty.
bool defineEmptyResults(Conversion &node) {
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i) && node.resultType(i).getNumElements() != 0)
      return false;
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i)) {
      auto type = RankedTensorType::get(node.resultShape(i),
                                        storedElementType(node.resultType(i).getElementType()));
      (void)node.result(i, node.b.constant(DenseElementsAttr::get(type, ArrayRef<Attribute>())));
    }
  return true;
}

LogicalResult convert(Conversion &node);
void definePlaceholders(Conversion &node, Program &program);

/// Converts `mtc.Scan` and its body.
LogicalResult convertScan(Conversion &node) {
  const int64_t states = node.integer("states"), inputs = node.integer("inputs");
  const int64_t iterations = node.integer("iterations"), reversed = node.integer("reversed");
  if (node.failed())
    return failure();
  Region &graph = *node.graph("body");
  Program &program = node.program();
  SmallVector<Value> operands;
  for (size_t i = 0; i < node.operandCount(); ++i)
    operands.push_back(node.value(i));
  StringRef name = nodeName(node.op());
  program.beginBody(graph, {states, inputs}, name.empty() ? "loop" : name);
  LogicalResult converted = success();
  for (auto op : graph.getOps<NodeOp>()) {
    Conversion inner(op, program);
    if (failed(convert(inner))) {
      converted = failure();
      definePlaceholders(inner, program);
    }
  }
  func::FuncOp body = program.endBody(graph);
  if (failed(converted))
    return failure();
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(body.getResultTypes()))
    types.push_back(static_cast<int64_t>(i) < states ? type
                                                     : ScanOp::stackedType(type, iterations));
  ValueRange values(operands);
  auto scan = node.b.create<ScanOp>(types, body.getSymName(), iterations, reversed != 0,
                                    values.take_front(states), values.slice(states, inputs),
                                    values.drop_front(states + inputs));
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (failed(node.result(i, scan->getResult(i))))
      return failure();
  return success();
}

/// Converts one node; errors are reported at the node.
LogicalResult convert(Conversion &node) {
  if (isScan(node.op()))
    return convertScan(node);
  const Operators &operators = Operators::get();
  const Operator *definition = operators.find(node.domain(), node.opType(), node.version());
  if (!definition || !definition->convert) {
    std::optional<int64_t> first = operators.firstConverted(node.domain(), node.opType());
    if (!first)
      return node.failure("the operator is not supported");
    return node.failure("this version is not supported; expected version " + Twine(*first) +
                        " or later. Convert the model to a newer opset");
  }
  if (failed(checkElementTypes(node, *definition)))
    return failure();
  return defineEmptyResults(node) ? success() : definition->convert(node);
}

/// Defines the results of a node that failed to convert as unrealized casts, so that its users are
/// checked too.
void definePlaceholders(Conversion &node, Program &program) {
  for (Value output : node.op().getOutputs())
    if (isa<RankedTensorType>(output.getType()))
      program.define(
          output,
          UnrealizedConversionCastOp::create(node.b, output.getType(), ValueRange{}).getResult(0));
}

/// Requires every value to be a static ranked tensor or `none`, and reports the first one that is
/// not.
LogicalResult checkInferred(GraphOp graph) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isa<NoneType>(type) || (tensor && tensor.hasStaticShape());
  };
  if (!llvm::all_of(graph.getArgumentTypes(), isStatic))
    return graph.emitError("the graph has dynamic input shapes; set their dimensions first");
  for (Operation &op : graph.getBody().front())
    for (Type type : op.getResultTypes())
      if (!isStatic(type))
        return op.emitError("has type ")
               << type << "; expected a static shape. Run onnx-infer-and-fold first";
  return success();
}

struct ConvertOnnxToMtcPass : impl::ConvertOnnxToMtcPassBase<ConvertOnnxToMtcPass> {
  using ConvertOnnxToMtcPassBase::ConvertOnnxToMtcPassBase;

  void runOnOperation() override {
    auto graph = getOperation().lookupSymbol<GraphOp>("main");
    if (!graph) {
      getOperation().emitError("expected a graph @main");
      return signalPassFailure();
    }
    if (failed(checkInferred(graph)))
      return signalPassFailure();

    if (failed(convertGraph(graph)))
      return signalPassFailure();
    for (auto other : llvm::make_early_inc_range(getOperation().getOps<GraphOp>()))
      other.erase();
  }

  /// Erases inputs that only removed outputs read, so that no data is needed for them.
  void eraseUnreadInputs(GraphOp graph) {
    llvm::BitVector unread(graph.getNumArguments());
    for (BlockArgument input : graph.getArguments())
      if (input.use_empty() && graph.getArgAttr(input.getArgNumber(), optionalAttribute)) {
        unread.set(input.getArgNumber());
        auto name = graph.getArgAttrOfType<StringAttr>(input.getArgNumber(), "onnx.name");
        emitRemark(UnknownLoc::get(&getContext()), "the input '")
            << name.getValue() << "' is omitted: only omitted outputs read it";
        if (InputOp known = ProgramOp::findOrAdd(getOperation()).findInput(name.getValue()))
          known.erase();
      }
    if (unread.any() && failed(graph.eraseArguments(unread)))
      llvm_unreachable("a graph has plain arguments");
  }

  LogicalResult convertGraph(GraphOp graph) {
    eraseUnreadInputs(graph);
    Program program(graph, attentionInParts, batchNorm, ranks, dropout);
    OptionalOutputs optional(graph);
    bool ok = true;
    for (auto op : graph.getOps<NodeOp>()) {
      Conversion node(op, program);
      if (succeeded(optional.run(op, [&] { return convert(node); })))
        continue;
      ok &= optional.contains(op);
      definePlaceholders(node, program);
    }
    if (ok && !optional.isAnyLeftOut()) {
      if (dropout > 0 && !program.hasDropout())
        return emitError(graph.getLoc(), "--dropout ")
               << llvm::to_string(llvm::format("%g", dropout.getValue()))
               << ": the model has no Dropout with a rate above 0 in training form; export the "
                  "module in training mode";
      program.finish();
      return success();
    }
    program.discard();
    if (!ok)
      return failure();
    optional.removeOutputs();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
      if (isa<NodeOp>(op) && op.use_empty() && !op.hasAttr(updateAttribute))
        op.erase();
    return convertGraph(graph); // Every remaining node is known to convert.
  }
};

} // namespace
} // namespace mtc::onnx
