// Enqueues the steps of recurrent layers.
//
// The weights, the lines and the products have the same addresses in each step, so that the
// algorithms are chosen once. A kernel copies the state, or the gradients, that the next
// multiplication reads to the lines.
#include "runtime/calls/recurrence/cuda/recurrence.h"

#include "runtime/abi/recurrence.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <utility>

namespace mtc::runtime::cuda {

using namespace gpu;

static const MtcRecurrence &recordOf(const MtcCall &call) {
  return *static_cast<const MtcRecurrence *>(call.description);
}

//===----------------------------------------------------------------------------------------===//
// Both passes
//===----------------------------------------------------------------------------------------===//

RecurrentLayer::RecurrentLayer(const CallContext &context, const MtcCall &call, bool isGradient,
                               Address weights, Address dState)
    : driver(openDriver()), p(recordOf(call)), code(*static_cast<const MtcGpuKernel *>(call.code)) {
  const RecurrencePlan plan = planRecurrence(p, isGradient);
  lines = context.scratch;
  productsOut = lines + static_cast<Address>(plan.linesBytes);
  const Address workspace = productsOut + static_cast<Address>(plan.productsBytes);
  const auto at = [&](Address matrix, int64_t offset) {
    return matrix + static_cast<Address>(offset * typeBytes(p.type));
  };
  for (const StepProduct &product : plan.products) {
    const Address out = product.isStateGradient ? dState : productsOut;
    products.emplace_back(
        context.libraries.openBlas(), product.plan,
        std::vector{at(lines, product.lines), at(weights, product.weights), at(out, product.out)},
        workspace, plan.workspaceBytes, MTC_CUDA_F32);
  }
  for (uint32_t i = 0; i < code.launch_count; ++i)
    kernels.push_back(context.images->find(code, code.launches[i], context.nodes));
}

std::string RecurrentLayer::implementation() const { return text("cublasLt, ", p.steps, " steps"); }

int64_t RecurrentLayer::stateBytes() const { return p.batch * p.hidden * typeBytes(p.type); }

Address RecurrentLayer::stepOf(Address all, int64_t n) const {
  return all ? all + static_cast<Address>(index(n) * stateBytes()) : 0;
}

Address RecurrentLayer::gatesOfStep(Address all, int64_t n) const {
  return all + static_cast<Address>(index(n) * mtc_recurrence_gates(p.cell) * stateBytes());
}

void RecurrentLayer::enqueueKernel(size_t number, void *parameters, size_t bytes,
                                   Stream stream) const {
  check(driver,
        enqueueLaunch(driver, kernels[number], code.launches[number], parameters, bytes, stream),
        "a recurrent layer cannot be run");
}

//===----------------------------------------------------------------------------------------===//
// Forward pass
//===----------------------------------------------------------------------------------------===//

RecurrentForward::Buffers::Buffers(const MtcRecurrence &p, const std::vector<Address> &buffers) {
  auto each = buffers.begin();
  auto next = [&](bool isThere = true) { return isThere ? *each++ : 0; };
  gates = next(!p.is_in_place);
  weights = next();
  state = next();
  cell = next(p.cell == MTC_LSTM);
  bias = next(p.cell == MTC_GRU_RESET_AFTER);
  activations = next();
  states = next();
  auxiliary = next(mtc_recurrence_has_auxiliary(p.cell));
  if (p.is_in_place)
    gates = activations;
}

RecurrentForward::RecurrentForward(const CallContext &context, const MtcCall &call)
    : RecurrentForward(context, call, Buffers(recordOf(call), context.buffers)) {}

RecurrentForward::RecurrentForward(const CallContext &context, const MtcCall &call,
                                   const Buffers &buffers)
    : RecurrentLayer(context, call, false, buffers.weights, 0), b(buffers) {}

void RecurrentForward::enqueue(Stream stream) const {
  check(driver, driver.copyOnDevice(lines, b.state, static_cast<size_t>(stateBytes()), stream),
        "the initial state of a recurrent layer cannot be copied");
  for (int64_t n = 0; n < p.steps; ++n)
    for (size_t i = 0; i < kernels.size(); ++i) {
      products[i].enqueue(stream);
      launch(i,
             MtcCudaCell{.gates = gatesOfStep(b.gates, n),
                         .products = productsOut,
                         .state_before = before(b.states, b.state, n),
                         .cell_before = p.cell == MTC_LSTM ? before(b.auxiliary, b.cell, n) : 0,
                         .bias = b.bias,
                         .activations = gatesOfStep(b.activations, n),
                         .state = stepOf(b.states, n),
                         .auxiliary = stepOf(b.auxiliary, n),
                         .lines = lines},
             stream);
    }
}

//===----------------------------------------------------------------------------------------===//
// Backward pass
//===----------------------------------------------------------------------------------------===//

RecurrentGradient::Buffers::Buffers(const MtcRecurrence &p, const std::vector<Address> &buffers) {
  auto each = buffers.begin();
  auto next = [&](bool isThere = true) { return isThere ? *each++ : 0; };
  activations = next(!p.is_in_place);
  weights = next();
  states = next();
  auxiliary = next(mtc_recurrence_has_auxiliary(p.cell));
  state = next();
  cell = next(p.cell == MTC_LSTM);
  dStates = next();
  dAuxiliary = next(p.has_d_auxiliary);
  dGates = next();
  dState = next();
  dCell = next(p.cell == MTC_LSTM);
  dCandidate = next(p.cell == MTC_GRU_RESET_AFTER);
  if (p.is_in_place)
    activations = dGates;
}

RecurrentGradient::RecurrentGradient(const CallContext &context, const MtcCall &call)
    : RecurrentGradient(context, call, Buffers(recordOf(call), context.buffers)) {}

RecurrentGradient::RecurrentGradient(const CallContext &context, const MtcCall &call,
                                     const Buffers &buffers)
    : RecurrentLayer(context, call, true, buffers.weights, buffers.dState), b(buffers) {}

/// No step follows the last one, whose gradients start from 0.
void RecurrentGradient::enqueue(Stream stream) const {
  for (Address gradient : {b.dState, b.dCell})
    if (gradient)
      check(driver, driver.fillBytes(gradient, 0, static_cast<size_t>(stateBytes()), stream),
            "the gradients of a recurrent layer cannot be initialized");
  for (int64_t n = p.steps; n-- > 0;)
    for (size_t i = 0; i < kernels.size(); ++i) {
      launch(i,
             MtcCudaCellGradient{.activations = gatesOfStep(b.activations, n),
                                 .state_before = before(b.states, b.state, n),
                                 .auxiliary = stepOf(b.auxiliary, n),
                                 .cell_before =
                                     p.cell == MTC_LSTM ? before(b.auxiliary, b.cell, n) : 0,
                                 .d_states = stepOf(b.dStates, n),
                                 .d_auxiliary = stepOf(b.dAuxiliary, n),
                                 .products = productsOut,
                                 .d_gates = gatesOfStep(b.dGates, n),
                                 .d_candidate = stepOf(b.dCandidate, n),
                                 .d_state = b.dState,
                                 .d_cell = b.dCell,
                                 .lines = lines},
             stream);
      products[i].enqueue(stream);
    }
}

/// Programs of other versions of mtc may have no device code.
template <typename Layer>
static std::unique_ptr<PreparedCall> prepareRecurrence(const CallContext &context,
                                                       const MtcCall &call) {
  return call.code ? std::make_unique<Layer>(context, call) : nullptr;
}

const CallKind recurrenceCalls = {MTC_RECURRENCE, prepareRecurrence<RecurrentForward>};
const CallKind recurrenceGradientCalls = {MTC_RECURRENCE_GRADIENT,
                                          prepareRecurrence<RecurrentGradient>};

} // namespace mtc::runtime::cuda
