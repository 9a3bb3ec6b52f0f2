//===- ConvolutionCallAttr.cpp - Attribute of convolution calls -------------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/Mtc.h"
#include "ir/calls/CallRecordText.h"

using namespace mlir;
using namespace mtc;

template <typename Record, typename Visitor>
static constexpr void visitFields(Record &c, Visitor &&visit) {
  visit("type", c.type, typeWords);
  visit("result_type", c.result_type, typeWords, c.type);
  visit("bias_type", c.bias_type, typeWords, c.type);
  visit("addend_type", c.addend_type, typeWords, c.type);
  visit("product_type", c.product_type, typeWords, c.type);
  visit("window_rank", c.window_rank);
  visit("batch", c.batch);
  visit("groups", c.groups);
  visit("input_channels", c.input_channels);
  visit("output_channels", c.output_channels);
  visit("input", c.input);
  visit("output", c.output);
  visit("kernel", c.kernel);
  visit("strides", c.strides);
  visit("dilations", c.dilations);
  visit("before", c.before);
  visit("has_bias", c.has_bias);
  visit("has_addend", c.has_addend);
  visit("activation", c.activation, enumWords<Activation>);
  visit("algorithm", c.algorithm, enumWords<CallAlgorithm>);
}

static_assert(visitsAll<MtcConvolution>([](auto &record, auto &visit) {
  visitFields(record, visit);
}));

void mtc::printRecord(AsmPrinter &printer, const MtcConvolution &record) {
  visitFields(record, FieldPrinter(printer));
}

ParseResult mtc::parseRecord(AsmParser &parser, MtcConvolution &record) {
  return parseFields(parser, [&](FieldParserOf &field) {
    visitFields(record, field);
    if (field.is("type"))
      mtc_set_convolution_types(&record, record.type);
  });
}

/// Returns whether the tensors and the positions of all taps are addressable.
static bool areAddressable(const MtcConvolution &c) {
  auto isTensor = [&](const int64_t *windows, std::initializer_list<int64_t> others) {
    SmallVector<int64_t> extents(windows, windows + c.window_rank);
    extents.append(others);
    return isAddressable(extents);
  };
  auto isWindow = [&](uint32_t i) {
    return c.strides[i] > 0 && c.dilations[i] > 0 && c.before[i] >= 0 &&
           isAddressable({c.output[i], c.kernel[i]}, {c.strides[i], c.dilations[i]});
  };
  return c.groups > 0 && isTensor(c.input, {c.batch, c.groups, c.input_channels}) &&
         isTensor(c.output, {c.batch, c.groups, c.output_channels}) &&
         isTensor(c.kernel, {c.groups, c.output_channels, c.input_channels}) &&
         llvm::all_of(llvm::seq(c.window_rank), isWindow);
}

static LogicalResult verifyRecord(function_ref<InFlightDiagnostic()> emitError,
                                  const MtcConvolution &c) {
  if (c.window_rank < 1 || c.window_rank > MTC_MAX_WINDOW_AXES)
    return emitError() << "has windows along " << c.window_rank << " axes, expected 1 to "
                       << MTC_MAX_WINDOW_AXES << " (convolution_call_c1)";
  if (c.activation != MTC_NO_ACTIVATION && c.activation != MTC_RELU)
    return emitError() << "applies " << stringifyEnum(static_cast<Activation>(c.activation))
                       << ", expected relu or nothing (convolution_call_c2)";
  auto holdsSums = [&](uint32_t type) { return holdsSumsOf(c.type, type); };
  if (!llvm::all_of(ArrayRef({c.result_type, c.bias_type, c.addend_type, c.product_type}),
                    holdsSums))
    return emitError()
           << "multiplies " << typeName(c.type) << " as " << typeName(c.product_type) << ", adds "
           << typeName(c.bias_type) << " and " << typeName(c.addend_type) << " and gives "
           << typeName(c.result_type)
           << ", expected one type, or wider types for the multiplication and sums of narrow "
              "floats (convolution_call_c4)";
  if (c.algorithm && c.algorithm != MTC_OWN_PANELS && c.algorithm != MTC_WINOGRAD)
    return emitError() << "packs operands, expected to read them as stored, own_panels or winograd "
                          "(convolution_call_c5)";
  if (c.algorithm == MTC_WINOGRAD && !mtc_has_winograd(&c))
    return emitError() << "is by winograd, expected f32, one group, no activation, and 3x3 windows "
                          "with stride and dilation 1 (convolution_call_c5)";
  if (!areAddressable(c))
    return emitError() << "has extents, strides, dilations or padding that are negative or that 64 "
                          "bits cannot address (convolution_call_c6)";
  return success();
}

/// Verifies an adjoint, which has no epilogue.
static LogicalResult verifyPlain(function_ref<InFlightDiagnostic()> emitError,
                                 const MtcConvolution &c) {
  if (c.has_bias || c.has_addend || c.activation)
    return emitError() << "has an epilogue, which only a convolution has (convolution_call_c3)";
  return verifyRecord(emitError, c);
}

template <typename Attr>
static CallAttrInterface withAlgorithmOf(Attr call, std::optional<CallAlgorithm> algorithm) {
  MtcConvolution c = *call.getRecord();
  if (algorithm && *algorithm != CallAlgorithm::OwnPanels &&
      (*algorithm != CallAlgorithm::Winograd || !mtc_has_winograd(&c)))
    return {};
  c.algorithm = algorithm ? static_cast<uint32_t>(*algorithm) : uint32_t(MTC_AS_STORED);
  return Attr::get(call.getContext(), c);
}

CallAttrInterface ConvolutionCallAttr::withAlgorithm(std::optional<CallAlgorithm> algorithm) const {
  return withAlgorithmOf(*this, algorithm);
}
CallAttrInterface
TransposedConvolutionCallAttr::withAlgorithm(std::optional<CallAlgorithm> algorithm) const {
  return withAlgorithmOf(*this, algorithm);
}
CallAttrInterface
ConvolutionWeightGradientCallAttr::withAlgorithm(std::optional<CallAlgorithm> algorithm) const {
  return withAlgorithmOf(*this, algorithm);
}

namespace {

/// The tensors of a convolution. The tensor that is the call's result may have another type.
struct Tensors {
  explicit Tensors(const MtcConvolution &c)
      : input{c.type, c.batch * c.groups * c.input_channels},
        weights{c.type, c.groups * c.output_channels * c.input_channels},
        output{c.type, c.batch * c.groups * c.output_channels} {
    for (uint32_t i = 0; i < c.window_rank; ++i) {
      *input.elements *= c.input[i];
      *weights.elements *= c.kernel[i];
      *output.elements *= c.output[i];
    }
  }
  CallShapes::Shape input, weights, output;
};

} // namespace

static int64_t bytesOf(const CallShapes::Shape &shape) {
  return *shape.elements * mtc_type_bytes(shape.type);
}

/// Counts each tensor once. Taps outside the input count like those inside. `result` is the tensor
/// that the call computes.
static Cost costOf(const MtcConvolution &c, CallShapes::Shape Tensors::*result) {
  Tensors tensors(c);
  (tensors.*result).type = c.result_type;
  int64_t outputs = *tensors.output.elements,
          bytes = bytesOf(tensors.input) + bytesOf(tensors.weights) + bytesOf(tensors.output);
  if (c.has_addend)
    bytes += outputs * mtc_type_bytes(c.addend_type);
  if (c.has_bias)
    bytes += c.groups * c.output_channels * mtc_type_bytes(c.bias_type);
  SmallVector<int64_t> factors = {2, outputs, c.input_channels};
  factors.append(c.kernel, c.kernel + c.window_rank);
  int64_t more = (c.has_bias != 0) + (c.has_addend != 0) + (c.activation != 0);
  return {saturatingSum({saturatingProduct(factors), saturatingProduct({more, outputs})}), bytes};
}

/// Returns the matrix multiplication with a row for each output position, which contracts taps and
/// input channels.
static MatrixProduct productOf(const MtcConvolution &c) {
  MatrixProduct product = {.m = c.batch,
                           .n = c.output_channels,
                           .k = c.input_channels,
                           .type = c.type,
                           .productType = c.product_type};
  for (uint32_t i = 0; i < c.window_rank; ++i) {
    product.m *= c.output[i];
    product.k *= c.kernel[i];
  }
  return product;
}

MatrixProduct ConvolutionCallAttr::getProduct() const { return productOf(*getRecord()); }

/// The roles of input and output channels are exchanged.
MatrixProduct TransposedConvolutionCallAttr::getProduct() const {
  const MtcConvolution &c = *getRecord();
  MatrixProduct product = productOf(c);
  product.n = c.input_channels;
  product.k = product.k / std::max<int64_t>(c.input_channels, 1) * c.output_channels;
  return product;
}

/// The contraction is over output positions.
MatrixProduct ConvolutionWeightGradientCallAttr::getProduct() const {
  MatrixProduct product = productOf(*getRecord());
  std::swap(product.m, product.k);
  return product;
}

LogicalResult ConvolutionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcConvolution> record) {
  return verifyRecord(emitError, *record);
}

Cost ConvolutionCallAttr::getCost() const { return costOf(*getRecord(), &Tensors::output); }

CallShapes ConvolutionCallAttr::getShapes() const {
  const MtcConvolution &c = *getRecord();
  Tensors tensors(c);
  CallShapes shapes = {{tensors.input, tensors.weights}, {}};
  shapes.results.push_back({c.result_type, tensors.output.elements});
  if (c.has_bias) // A view of a buffer of any size.
    shapes.operands.push_back({c.bias_type, std::nullopt, c.groups * c.output_channels});
  if (c.has_addend)
    shapes.operands.push_back({c.addend_type, tensors.output.elements});
  return shapes;
}

LogicalResult TransposedConvolutionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                                    CallRecord<MtcConvolution> record) {
  return verifyPlain(emitError, *record);
}

Cost TransposedConvolutionCallAttr::getCost() const {
  return costOf(*getRecord(), &Tensors::input);
}

CallShapes TransposedConvolutionCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  tensors.input.type = getRecord()->result_type;
  return {{tensors.output, tensors.weights}, {tensors.input}};
}

LogicalResult
ConvolutionWeightGradientCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcConvolution> record) {
  return verifyPlain(emitError, *record);
}

Cost ConvolutionWeightGradientCallAttr::getCost() const {
  return costOf(*getRecord(), &Tensors::weights);
}

CallShapes ConvolutionWeightGradientCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  tensors.weights.type = getRecord()->result_type;
  return {{tensors.input, tensors.output}, {tensors.weights}};
}
