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
  return success();
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
  int64_t elements = *tensors.input.elements + *tensors.weights.elements + *tensors.output.elements;
  int64_t products = *tensors.output.elements * c.input_channels;
  for (uint32_t i = 0; i < c.window_rank; ++i)
    products *= c.kernel[i];
  return {2 * products, elements * bytesOfType(c.type)};
}

LogicalResult ConvolutionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcConvolution> record) {
  return verifyRecord(emitError, *record);
}

Cost ConvolutionCallAttr::getCost() const { return costOf(*getRecord()); }

CallShapes ConvolutionCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  return {{tensors.input, tensors.weights}, {tensors.output}};
}

LogicalResult TransposedConvolutionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                                    CallRecord<MtcConvolution> record) {
  return verifyRecord(emitError, *record);
}

Cost TransposedConvolutionCallAttr::getCost() const { return costOf(*getRecord()); }

CallShapes TransposedConvolutionCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  return {{tensors.output, tensors.weights}, {tensors.input}};
}

LogicalResult
ConvolutionWeightGradientCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcConvolution> record) {
  return verifyRecord(emitError, *record);
}

Cost ConvolutionWeightGradientCallAttr::getCost() const { return costOf(*getRecord()); }

CallShapes ConvolutionWeightGradientCallAttr::getShapes() const {
  Tensors tensors(*getRecord());
  return {{tensors.input, tensors.output}, {tensors.weights}};
}
