//===- ConvolutionCallAttr.cpp - Convolutions as libraries are told of them -------------------===//

#include "ir/CallRecordText.h"
#include "ir/Mtc.h"

using namespace mlir;
using namespace mtc;

template <typename Record, typename Visitor>
static constexpr void visitFields(Record &c, Visitor &&visit) {
  visit("type", c.type, typeWords);
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
  visit("unused", c.unused);
}

static_assert(visitsAll<MtcConvolution>([](auto &record, auto &visit) {
  visitFields(record, visit);
}));

void mtc::printRecord(AsmPrinter &printer, const MtcConvolution &record) {
  visitFields(record, FieldPrinter(printer));
}

ParseResult mtc::parseRecord(AsmParser &parser, MtcConvolution &record) {
  return parseFields(parser, [&](FieldParserOf &field) { visitFields(record, field); });
}

static LogicalResult verifyRecord(function_ref<InFlightDiagnostic()> emitError,
                                  const MtcConvolution &c) {
  if (c.window_rank < 1 || c.window_rank > MTC_MAX_WINDOW_AXES)
    return emitError() << "has windows along " << c.window_rank << " axes, expected 1 to "
                       << MTC_MAX_WINDOW_AXES << " (convolution_call_c1)";
  if (c.activation != MTC_NO_ACTIVATION && c.activation != MTC_RELU)
    return emitError() << "applies " << stringifyEnum(static_cast<Activation>(c.activation))
                       << ", expected relu or nothing (convolution_call_c2)";
  return success();
}

/// Of an adjoint.
static LogicalResult verifyPlain(function_ref<InFlightDiagnostic()> emitError,
                                 const MtcConvolution &c) {
  if (c.has_bias || c.has_addend || c.activation)
    return emitError() << "has an epilogue, which only a convolution has (convolution_call_c3)";
  return verifyRecord(emitError, c);
}

namespace {

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

/// Each tensor counted once; taps beyond the input count as the others.
static Cost costOf(const MtcConvolution &c) {
  Tensors tensors(c);
  int64_t outputs = *tensors.output.elements,
          elements = *tensors.input.elements + *tensors.weights.elements +
                     outputs * (c.has_addend ? 2 : 1) +
                     (c.has_bias ? c.groups * c.output_channels : 0);
  int64_t products = outputs * c.input_channels;
  for (uint32_t i = 0; i < c.window_rank; ++i)
    products *= c.kernel[i];
  int64_t more = (c.has_bias != 0) + (c.has_addend != 0) + (c.activation != 0);
  return {2 * products + more * outputs, elements * bytesOfType(c.type)};
}

LogicalResult ConvolutionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcConvolution> record) {
  return verifyRecord(emitError, *record);
}

Cost ConvolutionCallAttr::getCost() const { return costOf(*getRecord()); }

CallShapes ConvolutionCallAttr::getShapes() const {
  const MtcConvolution &c = *getRecord();
  Tensors tensors(c);
  CallShapes shapes = {{tensors.input, tensors.weights}, {tensors.output}};
  if (c.has_bias)
    shapes.operands.push_back({c.type, std::nullopt}); // a view of whatever holds it
  if (c.has_addend)
    shapes.operands.push_back(tensors.output);
  return shapes;
}

LogicalResult TransposedConvolutionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                                    CallRecord<MtcConvolution> record) {
  return verifyPlain(emitError, *record);
}

Cost TransposedConvolutionCallAttr::getCost() const { return costOf(*getRecord()); }

CallShapes TransposedConvolutionCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  return {{tensors.output, tensors.weights}, {tensors.input}};
}

LogicalResult
ConvolutionWeightGradientCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcConvolution> record) {
  return verifyPlain(emitError, *record);
}

Cost ConvolutionWeightGradientCallAttr::getCost() const { return costOf(*getRecord()); }

CallShapes ConvolutionWeightGradientCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  return {{tensors.input, tensors.output}, {tensors.weights}};
}
