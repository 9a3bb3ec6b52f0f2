//===- Recurrent.cpp - RNN, GRU and LSTM ------------------------------------------------------===//
//
// One contraction multiplies the inputs of all steps by the input weights. `mtc.recurrence` then
// computes all steps from it. The operation does not support sequence lengths, peepholes, clipping,
// coupled gates and other activations; such layers are unrolled.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/RecurrentActivation.h"
#include "frontend/onnx/operators/support/Unrolled.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Operand numbers of the standard.
enum : size_t { InX, InW, InR, InBias, InLengths, InState, InCell, InPeepholes };

/// Properties of a kind of cell.
struct CellKind {
  StringRef name;
  int64_t gates;
  SmallVector<StringRef> activations; ///< Defaults for one direction.
  bool hasCell;                       ///< Whether there is a second state, which is not part of Y.
};

/// The attributes, and the extents of X.
struct Recurrence {
  bool batchFirst;
  SmallVector<bool> isReversed;                 ///< One entry per direction.
  SmallVector<RecurrentActivation> activations; ///< Concatenated over all directions.
  double clip;                                  ///< 0: no clipping.
  bool flag; ///< LSTM's input_forget or GRU's linear_before_reset.
  int64_t steps, batch, hidden;

  int64_t directions() const { return static_cast<int64_t>(isReversed.size()); }

  static FailureOr<Recurrence> read(NodeView &node, const CellKind &kind);
};

FailureOr<Recurrence> Recurrence::read(NodeView &node, const CellKind &kind) {
  bool batchFirst = node.flag("layout", false);
  StringRef direction =
      node.choice("direction", "forward", {"forward", "reverse", "bidirectional"});
  double clip = node.floating("clip", 0);
  bool flag = kind.name == "LSTM"  ? node.flag("input_forget", false)
              : kind.name == "GRU" ? node.flag("linear_before_reset", false)
                                   : false;
  if (node.failed())
    return failure();
  if (!(clip >= 0))
    return node.failure("attribute clip must not be negative");
  SmallVector<bool> isReversed{direction == "reverse"};
  if (direction == "bidirectional")
    isReversed.push_back(true);
  SmallVector<StringRef> byDefault;
  for (size_t i = 0; i < isReversed.size(); ++i)
    llvm::append_range(byDefault, kind.activations);
  FailureOr<SmallVector<RecurrentActivation>> activations = readActivations(node, byDefault);
  if (failed(activations))
    return failure();
  return Recurrence{batchFirst,
                    isReversed,
                    *activations,
                    clip,
                    flag,
                    node.dim(InX, batchFirst),
                    node.dim(InX, !batchFirst),
                    node.dim(InR, 2)};
}

//===--- Type inference -----------------------------------------------------------------------===//

/// X [T, B, I] (layout 0) or [B, T, I] (layout 1), W [directions, gates · H, I], R [directions,
/// gates · H, H]. Y [T, directions, B, H] or [B, T, directions, H]; Y_h and Y_c [directions, B, H]
/// or [B, directions, H].
LogicalResult inferRecurrent(Inference &node, const CellKind &kind) {
  for (size_t i : {InX, InW, InR})
    if (!node.sameElementType(0, i) || !node.hasRank(i, 3, 3))
      return failure();
  FailureOr<Recurrence> read = Recurrence::read(node, kind);
  if (failed(read))
    return failure();
  int64_t directions = read->directions(), hidden = read->hidden, batch = read->batch;
  int64_t said = node.integer("hidden_size", hidden);
  if (node.failed())
    return failure();
  if (hidden != said)
    return node.failure("attribute hidden_size = " + Twine(said) + ", but " +
                        node.operandName(InR) + " has shape " + shapeText(node.shape(InR)));
  if (hidden < 1 || read->steps < 1)
    return node.failure("has " + Twine(hidden) + " hidden elements and " + Twine(read->steps) +
                        " steps, expected at least 1 of each");
  Extents state =
      read->batchFirst ? Extents{batch, directions, hidden} : Extents{directions, batch, hidden};
  if (!node.hasShape(InW, {directions, kind.gates * hidden, node.dim(InX, 2)}) ||
      !node.hasShape(InR, {directions, kind.gates * hidden, hidden}) ||
      !node.hasShape(InBias, {directions, 2 * kind.gates * hidden}) ||
      !node.hasShape(InLengths, {batch}) || !node.hasShape(InState, state))
    return failure();
  if (kind.hasCell &&
      (!node.hasShape(InCell, state) || !node.hasShape(InPeepholes, {directions, 3 * hidden})))
    return failure();
  Type element = node.elementType(0);
  Extents all = read->batchFirst ? Extents{batch, read->steps, directions, hidden}
                                 : Extents{read->steps, directions, batch, hidden};
  return success(succeeded(node.result(0, element, all)) &&
                 succeeded(node.result(1, element, state)) &&
                 (!kind.hasCell || succeeded(node.result(2, element, state))));
}

//===--- One direction ------------------------------------------------------------------------===//

/// The operands of one direction, with the step axis first.
struct Direction {
  Value input;       ///< [T, B, gates · H]: X · W plus biases.
  Value recurrence;  ///< R [gates · H, H].
  Value stateBias;   ///< [H] of GRU's linear_before_reset; null otherwise.
  Value peepholes;   ///< [3 · H]; may be null.
  Value state, cell; ///< [B, H]; the cell is null for RNN and GRU.
};

class Unrolled {
public:
  Unrolled(TensorBuilder &b, const CellKind &kind, const Recurrence &recurrence,
           ArrayRef<RecurrentActivation> activations)
      : b(b), kind(kind), read(recurrence), activations(activations) {}

  /// Outputs of all steps [T, B, H] and the final states. Sequences have `lengths` [B], or T steps
  /// if null. After the end of a sequence, its states keep their values and its outputs are 0.
  struct Result {
    Value all, state, cell;
  };
  Result run(Direction direction, Value lengths) {
    SmallVector<Value> outputs;
    Value state = direction.state, cell = direction.cell;
    for (int64_t step = 0; step < read.steps; ++step) {
      Value input = b.reshape(b.slice(direction.input, {step, 0, 0},
                                      {1, read.batch, kind.gates * read.hidden}, {1, 1, 1}),
                              {read.batch, kind.gates * read.hidden});
      Value before = state, cellBefore = cell;
      if (kind.name == "LSTM")
        std::tie(state, cell) = lstm(direction, input, state, cell);
      else
        state = kind.name == "GRU" ? gru(direction, input, state) : rnn(direction, input, state);
      Value output = state;
      if (lengths) {
        Value runs = b.compare(Predicate::Gt, lengths, b.splat(lengths, static_cast<double>(step)));
        runs = b.broadcast(runs, {1}, shapeOf(state));
        output = b.select(runs, state, b.splat(state, 0.0));
        state = b.select(runs, state, before);
        cell = cell ? b.select(runs, cell, cellBefore) : cell;
      }
      outputs.push_back(b.reshape(output, {1, read.batch, read.hidden}));
    }
    return {outputs.size() == 1 ? outputs.front() : b.concatenate(outputs, 0), state, cell};
  }

private:
  Value activate(size_t i, Value x) {
    if (read.clip > 0)
      x = clip(b, x, b.splat(x, -read.clip), b.splat(x, read.clip));
    return activations[i].build(b, x);
  }
  /// Returns x · Rᵀ for the gates [first, first + count).
  Value product(const Direction &direction, Value x, int64_t first, int64_t count) {
    Value weights = direction.recurrence;
    if (count != kind.gates)
      weights =
          b.slice(weights, {first * read.hidden, 0}, {count * read.hidden, read.hidden}, {1, 1});
    return b.contract(x, weights, {}, {}, {1}, {1});
  }
  Value gate(Value x, int64_t i) {
    return b.slice(x, {0, i * read.hidden}, {read.batch, read.hidden}, {1, 1});
  }
  Value perRow(Value x) { return b.broadcast(x, {0}, {read.batch, read.hidden}); }

  Value rnn(const Direction &direction, Value input, Value state) {
    return activate(0, b.add(input, product(direction, state, 0, 1)));
  }

  /// Gates z (update), r (reset), h (candidate state).
  Value gru(const Direction &direction, Value input, Value state) {
    Value z, r, candidate;
    if (read.flag) {
      Value sum = product(direction, state, 0, 3);
      z = activate(0, b.add(gate(input, 0), gate(sum, 0)));
      r = activate(0, b.add(gate(input, 1), gate(sum, 1)));
      Value recurrent = gate(sum, 2);
      if (direction.stateBias)
        recurrent = b.add(recurrent, perRow(direction.stateBias));
      candidate = b.add(gate(input, 2), b.mul(r, recurrent));
    } else {
      Value sum = product(direction, state, 0, 2);
      z = activate(0, b.add(gate(input, 0), gate(sum, 0)));
      r = activate(0, b.add(gate(input, 1), gate(sum, 1)));
      candidate = b.add(gate(input, 2), product(direction, b.mul(r, state), 2, 1));
    }
    Value h = activate(1, candidate);
    return b.add(b.mul(b.sub(b.splat(z, 1.0), z), h), b.mul(z, state));
  }

  /// Gates i (input), o (output), f (forget), c (cell).
  std::pair<Value, Value> lstm(const Direction &direction, Value input, Value state, Value cell) {
    Value sum = b.add(input, product(direction, state, 0, 4));
    // Peephole weights are ordered i, o, f.
    auto peeped = [&](int64_t i, Value seen) {
      Value x = gate(sum, i);
      if (!direction.peepholes)
        return x;
      Value weights = b.slice(direction.peepholes, {i * read.hidden}, {read.hidden}, {1});
      return b.add(x, b.mul(perRow(weights), seen));
    };
    Value i = activate(0, peeped(0, cell));
    Value f = read.flag ? b.sub(b.splat(i, 1.0), i) : activate(0, peeped(2, cell));
    Value next = b.add(b.mul(f, cell), b.mul(i, activate(1, gate(sum, 3))));
    Value o = activate(0, peeped(1, next));
    return {b.mul(o, activations[2].build(b, next)), next};
  }

  TensorBuilder &b;
  const CellKind &kind;
  const Recurrence &read;
  ArrayRef<RecurrentActivation> activations;
};

/// Returns the cell of `mtc.recurrence` that computes one direction; nothing if there is none.
std::optional<RecurrentCell> findCell(const CellKind &kind, const Recurrence &read,
                                      ArrayRef<RecurrentActivation> activations,
                                      const Direction &direction, Value lengths) {
  const bool hasDefaults = llvm::all_of_zip(
      activations, kind.activations,
      [](const RecurrentActivation &given, StringRef name) { return given.name == name; });
  if (lengths || direction.peepholes || read.clip > 0)
    return std::nullopt;
  if (kind.name == "RNN") {
    if (hasDefaults)
      return RecurrentCell::Tanh;
    return activations[0].name == "Relu" ? std::optional(RecurrentCell::Relu) : std::nullopt;
  }
  if (!hasDefaults)
    return std::nullopt;
  if (kind.name == "GRU")
    return read.flag ? RecurrentCell::GruResetAfter : RecurrentCell::Gru;
  return read.flag ? std::nullopt : std::optional(RecurrentCell::Lstm);
}

/// Builds `mtc.recurrence` for one direction, whose inputs are in the order of their indices.
Unrolled::Result buildRecurrence(TensorBuilder &b, RecurrentCell cell, const Direction &direction,
                                 const Recurrence &read, bool isReversed) {
  auto type = [&](ArrayRef<int64_t> shape) { return typeOf(direction.input).clone(shape); };
  RankedTensorType states = type({read.steps, read.batch, read.hidden});
  Value bias = direction.stateBias;
  if (cell == RecurrentCell::GruResetAfter && !bias)
    bias = b.splat(type({read.hidden}), 0.0);
  auto op = RecurrenceOp::create(b, b.getLoc(), direction.input.getType(), states,
                                 RecurrenceOp::hasAuxiliary(cell) ? Type(states) : Type(), cell,
                                 direction.input, direction.recurrence, direction.state,
                                 direction.cell, bias, isReversed);
  auto last = [&](Value all) {
    const int64_t index = isReversed ? 0 : read.steps - 1;
    return b.reshape(b.slice(all, {index, 0, 0}, {1, read.batch, read.hidden}, {1, 1, 1}),
                     {read.batch, read.hidden});
  };
  return {op.getStates(), last(op.getStates()),
          cell == RecurrentCell::Lstm ? last(op.getAuxiliary()) : Value()};
}

//===--- Conversion ---------------------------------------------------------------------------===//

/// Reverses the steps of [T, B, …], within the length of each sequence if given.
Value reversedSteps(TensorBuilder &b, Value x, Value lengths) {
  if (!lengths)
    return b.reverse(x, {0});
  return b.transpose(reverseSequences(b, b.transpose(x, {1, 0, 2}), lengths), {1, 0, 2});
}

LogicalResult convertRecurrent(Conversion &node, const CellKind &kind) {
  FailureOr<Recurrence> read = Recurrence::read(node, kind);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  int64_t hidden = read->hidden, batch = read->batch, gates = kind.gates, inputs = node.dim(InX, 2);
  Value x = node.value(InX);
  if (read->batchFirst)
    x = b.transpose(x, {1, 0, 2});
  Value lengths;
  if (node.has(InLengths)) {
    std::optional<Extents> known = node.constantInts(InLengths);
    bool areWhole = known && llvm::all_of(*known, [&](int64_t n) { return n == read->steps; });
    if (!areWhole)
      lengths = b.cast(node.value(InLengths), b.getI64Type());
  }
  // Returns slice `i` along the direction axis, which is the operand's first.
  auto part = [&](size_t operand, int64_t i) {
    Value all = node.value(operand);
    Extents offsets(typeOf(all).getRank(), 0), sizes(shapeOf(all)), one(offsets.size(), 1);
    offsets[0] = i;
    sizes[0] = 1;
    return b.reshape(b.slice(all, offsets, sizes, one), ArrayRef(sizes).drop_front());
  };
  // Returns slice `i` of a state [directions, B, H] or [B, directions, H].
  auto initial = [&](size_t operand, int64_t i) -> Value {
    if (!node.has(operand))
      return b.splat(RankedTensorType::get({batch, hidden}, node.elementType(0)), 0.0);
    if (!read->batchFirst)
      return part(operand, i);
    return b.reshape(b.slice(node.value(operand), {0, i, 0}, {batch, 1, hidden}, {1, 1, 1}),
                     {batch, hidden});
  };
  SmallVector<Value> all, states, cells;
  for (int64_t i = 0; i < read->directions(); ++i) {
    bool isReversed = read->isReversed[i];
    const size_t each = kind.activations.size();
    ArrayRef<RecurrentActivation> activations =
        ArrayRef(read->activations).slice(static_cast<size_t>(i) * each, each);
    Direction direction;
    if (kind.hasCell && node.has(InPeepholes))
      direction.peepholes = part(InPeepholes, i);
    std::optional<RecurrentCell> cell = findCell(kind, *read, activations, direction, lengths);
    if (!cell && failed(checkUnrolled(node, read->steps)))
      return failure();
    Value input = isReversed && !cell ? reversedSteps(b, x, lengths) : x;
    Value flat = b.reshape(input, {read->steps * batch, inputs});
    direction.input = b.reshape(b.contract(flat, part(InW, i), {}, {}, {1}, {1}),
                                {read->steps, batch, gates * hidden});
    direction.recurrence = part(InR, i);
    if (node.has(InBias)) {
      Value biases = part(InBias, i);
      Value ofInput = b.slice(biases, {0}, {gates * hidden}, {1});
      Value ofState = b.slice(biases, {gates * hidden}, {gates * hidden}, {1});
      if (kind.name == "GRU" && read->flag) {
        // The recurrent bias of the candidate is added before the reset gate is applied.
        direction.stateBias = b.slice(ofState, {2 * hidden}, {hidden}, {1});
        ofState = b.pad(b.slice(ofState, {0}, {2 * hidden}, {1}), {0}, {hidden}, {0});
      }
      Value bias = b.add(ofInput, ofState);
      direction.input = b.add(direction.input, b.broadcast(bias, {0, 1}, shapeOf(direction.input)));
    }
    direction.state = initial(InState, i);
    if (kind.hasCell)
      direction.cell = initial(InCell, i);
    Unrolled::Result result = cell ? buildRecurrence(b, *cell, direction, *read, isReversed)
                                   : Unrolled(b, kind, *read, activations).run(direction, lengths);
    Value steps = isReversed && !cell ? reversedSteps(b, result.all, lengths) : result.all;
    all.push_back(b.reshape(steps, {read->steps, 1, batch, hidden}));
    states.push_back(b.reshape(result.state, {1, batch, hidden}));
    if (kind.hasCell)
      cells.push_back(b.reshape(result.cell, {1, batch, hidden}));
  }
  auto joined = [&](ArrayRef<Value> values, int64_t axis) {
    return values.size() == 1 ? values.front() : b.concatenate(values, axis);
  };
  auto last = [&](size_t i, ArrayRef<Value> values) {
    if (!node.wants(i))
      return success();
    Value y = joined(values, 0);
    return node.result(i, read->batchFirst ? b.transpose(y, {1, 0, 2}) : y);
  };
  if (node.wants(0)) {
    Value y = joined(all, 1);
    if (failed(node.result(0, read->batchFirst ? b.transpose(y, {2, 0, 1, 3}) : y)))
      return failure();
  }
  return success(succeeded(last(1, states)) && (!kind.hasCell || succeeded(last(2, cells))));
}

} // namespace

void addRecurrentOperators(Operators &operators) {
  for (const CellKind &kind :
       {CellKind{"RNN", 1, {"Tanh"}, false}, CellKind{"GRU", 3, {"Sigmoid", "Tanh"}, false},
        CellKind{"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, true}})
    operators.add(kind.name, 7,
                  {.infer = [kind](Inference &node) { return inferRecurrent(node, kind); },
                   .convert = [kind](Conversion &node) { return convertRecurrent(node, kind); },
                   .roles = {{1, OperandRole::Factor},
                             {2, OperandRole::Factor},
                             {3, OperandRole::BiasOrScale},
                             {5, OperandRole::InitialState},
                             {6, OperandRole::InitialState},
                             {7, OperandRole::BiasOrScale}}});
}

} // namespace mtc::onnx
