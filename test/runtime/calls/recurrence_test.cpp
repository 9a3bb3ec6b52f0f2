// Compares recurrent layers with plain loops, and their gradients with central differences.
#include "runtime/calls/recurrence/cpu/recurrence.h"

#include "runtime/devices/cpu/threads/parallel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace mtc::runtime;

namespace {

struct Case {
  uint32_t cell;
  int64_t steps, batch, hidden;
  bool isReversed = false;
};

/// The cases have sizes that are not multiples of a block of units or of a register tile, one row,
/// one step, and several chunks of rows.
constexpr Case cases[] = {{MTC_LSTM, 3, 2, 5},
                          {MTC_LSTM, 1, 1, 17, true},
                          {MTC_LSTM, 2, 101, 3},
                          {MTC_LSTM, 3, 7, 33, true},
                          {MTC_GRU, 3, 2, 5, true},
                          {MTC_GRU, 2, 50, 35},
                          {MTC_GRU_RESET_AFTER, 3, 2, 5},
                          {MTC_GRU_RESET_AFTER, 2, 49, 17, true},
                          {MTC_RNN_TANH, 4, 3, 66},
                          {MTC_RNN_RELU, 3, 5, 7, true}};

int64_t gatesOf(uint32_t cell) {
  return cell == MTC_LSTM ? 4 : cell == MTC_GRU || cell == MTC_GRU_RESET_AFTER ? 3 : 1;
}
bool hasAuxiliary(uint32_t cell) { return cell != MTC_RNN_TANH && cell != MTC_RNN_RELU; }

template <typename Element> using Tensor = std::vector<Element>;

/// The operands of a forward pass and the cotangents of its results.
template <typename Element> struct Operands {
  Tensor<Element> gates, weights, state, cell, bias, dStates, dAuxiliary;

  explicit Operands(const MtcRecurrence &p) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    auto fill = [&](int64_t count) {
      Tensor<Element> values(static_cast<size_t>(count));
      for (Element &value : values)
        value = static_cast<Element>(uniform(random));
      return values;
    };
    const int64_t gateCount = gatesOf(p.cell), states = p.steps * p.batch * p.hidden;
    gates = fill(gateCount * states);
    weights = fill(gateCount * p.hidden * p.hidden);
    for (Element &weight : weights)
      weight /= std::sqrt(static_cast<Element>(p.hidden));
    state = fill(p.batch * p.hidden);
    cell = fill(p.batch * p.hidden);
    bias = fill(p.hidden);
    dStates = fill(states);
    dAuxiliary = fill(states);
  }
};

template <typename Element> struct Results {
  Tensor<Element> activations, states, auxiliary;
  bool operator==(const Results &) const = default;
};
template <typename Element> struct Gradients {
  Tensor<Element> dGates, dState, dCell, dCandidate;
  bool operator==(const Gradients &) const = default;
};

class Layer {
public:
  Layer(const Case &c, uint32_t type, int threads = 1, VectorSet set = machineVectors())
      : threads(threads), set(set) {
    p.type = type;
    p.cell = c.cell;
    p.is_reversed = c.isReversed;
    p.steps = c.steps;
    p.batch = c.batch;
    p.hidden = c.hidden;
  }

  MtcRecurrence p = {};

  template <typename Element> Results<Element> run(const Operands<Element> &in) const {
    const auto states = in.dStates.size();
    Results<Element> out = {Tensor<Element>(in.gates), Tensor<Element>(states),
                            Tensor<Element>(hasAuxiliary(p.cell) ? states : 0)};
    std::vector<char *> buffers;
    if (!p.is_in_place) {
      buffers.push_back(address(in.gates));
      out.activations.assign(in.gates.size(), std::nan(""));
    }
    buffers.insert(buffers.end(), {address(in.weights), address(in.state)});
    if (p.cell == MTC_LSTM)
      buffers.push_back(address(in.cell));
    if (p.cell == MTC_GRU_RESET_AFTER)
      buffers.push_back(address(in.bias));
    buffers.insert(buffers.end(), {address(out.activations), address(out.states)});
    if (hasAuxiliary(p.cell))
      buffers.push_back(address(out.auxiliary));
    call(false, buffers);
    return out;
  }

  template <typename Element>
  Gradients<Element> differentiate(const Operands<Element> &in,
                                   const Results<Element> &saved) const {
    Gradients<Element> out = {
        Tensor<Element>(saved.activations), Tensor<Element>(in.state.size()), {}, {}};
    std::vector<char *> buffers;
    if (!p.is_in_place) {
      buffers.push_back(address(saved.activations));
      out.dGates.assign(saved.activations.size(), std::nan(""));
    }
    buffers.insert(buffers.end(), {address(in.weights), address(saved.states)});
    if (hasAuxiliary(p.cell))
      buffers.push_back(address(saved.auxiliary));
    buffers.push_back(address(in.state));
    if (p.cell == MTC_LSTM)
      buffers.push_back(address(in.cell));
    buffers.push_back(address(in.dStates));
    if (p.has_d_auxiliary)
      buffers.push_back(address(in.dAuxiliary));
    buffers.insert(buffers.end(), {address(out.dGates), address(out.dState)});
    if (p.cell == MTC_LSTM) {
      out.dCell.resize(in.cell.size());
      buffers.push_back(address(out.dCell));
    }
    if (p.cell == MTC_GRU_RESET_AFTER) {
      out.dCandidate.resize(in.dStates.size());
      buffers.push_back(address(out.dCandidate));
    }
    call(true, buffers);
    return out;
  }

private:
  template <typename Element> static char *address(const Tensor<Element> &values) {
    return reinterpret_cast<char *>(const_cast<Element *>(values.data()));
  }

  void call(bool isGradient, const std::vector<char *> &buffers) const {
    MtcRecurrence record = p;
    record.has_d_auxiliary = isGradient ? p.has_d_auxiliary : 0;
    auto created = createRecurrence(record, isGradient, threads, set);
    ASSERT_TRUE(created);
    auto bytes = static_cast<size_t>(created->scratchBytes());
    EXPECT_LE(created->scratchBytes(),
              mtc_call_scratch_bytes(MTC_BUILT_IN,
                                     isGradient ? MTC_RECURRENCE_GRADIENT : MTC_RECURRENCE, &record,
                                     threads));
    // The previous contents of the scratch memory must not affect the results, and bytes after it
    // must not change.
    std::vector<char> buffer(bytes + 256, static_cast<char>(0xff));
    char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
    setLibraryThreads(threads);
    created->run(buffers.data(), scratch);
    for (char *each = scratch + bytes; each < buffer.data() + buffer.size(); ++each)
      ASSERT_EQ(*each, static_cast<char>(0xff)) << "written after the scratch";
  }

  int threads;
  VectorSet set;
};

/// Computes one step for one row, as defined in runtime/abi/recurrence.h.
class PlainStep {
public:
  PlainStep(const MtcRecurrence &p, const Operands<double> &in) : p(p), in(in) {}

  /// Updates the row's state and cell from the pre-activations `x`.
  void run(const double *x, std::vector<double> &h, std::vector<double> &c) const {
    const auto n = static_cast<size_t>(p.hidden);
    std::vector<double> next(n), masked(h);
    auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
    auto sum = [&](size_t g, size_t u) { return x[g * n + u] + product(g, u, h); };
    if (p.cell == MTC_GRU)
      for (size_t u = 0; u < n; ++u)
        masked[u] = logistic(sum(1, u)) * h[u];
    for (size_t u = 0; u < n; ++u)
      switch (p.cell) {
      case MTC_LSTM:
        c[u] = logistic(sum(2, u)) * c[u] + logistic(sum(0, u)) * std::tanh(sum(3, u));
        next[u] = logistic(sum(1, u)) * std::tanh(c[u]);
        break;
      case MTC_RNN_TANH:
        next[u] = std::tanh(sum(0, u));
        break;
      case MTC_RNN_RELU:
        next[u] = std::max(sum(0, u), 0.0);
        break;
      default: {
        const double z = logistic(sum(0, u));
        const double candidate = p.cell == MTC_GRU
                                     ? product(2, u, masked)
                                     : logistic(sum(1, u)) * (product(2, u, h) + in.bias[u]);
        next[u] = (1 - z) * std::tanh(x[2 * n + u] + candidate) + z * h[u];
      }
      }
    h = next;
  }

private:
  double product(size_t g, size_t u, const std::vector<double> &h) const {
    double total = 0;
    for (size_t k = 0; k < h.size(); ++k)
      total += in.weights[(g * h.size() + u) * h.size() + k] * h[k];
    return total;
  }

  const MtcRecurrence &p;
  const Operands<double> &in;
};

/// Returns the states and cells of all steps.
std::pair<Tensor<double>, Tensor<double>> plainStates(const MtcRecurrence &p,
                                                      const Operands<double> &in) {
  const auto n = static_cast<size_t>(p.hidden), batch = static_cast<size_t>(p.batch),
             steps = static_cast<size_t>(p.steps);
  const auto gates = static_cast<size_t>(gatesOf(p.cell));
  Tensor<double> states(steps * batch * n), cells(states.size());
  PlainStep step(p, in);
  for (size_t row = 0; row < batch; ++row) {
    std::vector<double> h(in.state.begin() + row * n, in.state.begin() + (row + 1) * n),
        c(in.cell.begin() + row * n, in.cell.begin() + (row + 1) * n);
    for (size_t i = 0; i < steps; ++i) {
      const size_t t = p.is_reversed ? steps - 1 - i : i, at = t * batch + row;
      step.run(in.gates.data() + at * gates * n, h, c);
      std::copy(h.begin(), h.end(), states.begin() + at * n);
      std::copy(c.begin(), c.end(), cells.begin() + at * n);
    }
  }
  return {states, cells};
}

template <typename Element>
void expectNear(const Tensor<Element> &found, const Tensor<double> &expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

std::string nameOf(const Case &c) {
  return "cell " + std::to_string(c.cell) + ", " + std::to_string(c.steps) + " steps of " +
         std::to_string(c.batch) + " x " + std::to_string(c.hidden);
}

template <typename Element> void expectPlainStates(const Case &c, uint32_t type, double tolerance) {
  SCOPED_TRACE(nameOf(c));
  for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
    Layer layer(c, type, 1, VectorSet(set));
    Operands<Element> in(layer.p);
    Operands<double> wide(layer.p);
    for (auto [from, to] : {std::pair(&in.gates, &wide.gates),
                            {&in.weights, &wide.weights},
                            {&in.state, &wide.state},
                            {&in.cell, &wide.cell},
                            {&in.bias, &wide.bias}})
      to->assign(from->begin(), from->end());
    auto [states, cells] = plainStates(layer.p, wide);
    Results<Element> out = layer.run(in);
    expectNear(out.states, states, tolerance);
    if (c.cell == MTC_LSTM)
      expectNear(out.auxiliary, cells, tolerance);
  }
}

TEST(Recurrence, MatchesItsDefinition) {
  for (const Case &c : cases)
    expectPlainStates<float>(c, MTC_F32, 1e-5);
}

TEST(Recurrence, MatchesItsDefinitionInDoublePrecision) {
  for (const Case &c : cases)
    expectPlainStates<double>(c, MTC_F64, 1e-13);
}

TEST(Recurrence, GradientsMatchCentralDifferences) {
  for (const Case &c : cases) {
    SCOPED_TRACE(nameOf(c));
    Layer layer(c, MTC_F64);
    layer.p.has_d_auxiliary = c.cell == MTC_LSTM;
    Operands<double> in(layer.p);
    Gradients<double> found = layer.differentiate(in, layer.run(in));
    auto loss = [&] {
      Results<double> out = layer.run(in);
      double total = 0;
      for (size_t i = 0; i < out.states.size(); ++i)
        total += out.states[i] * in.dStates[i] +
                 (layer.p.has_d_auxiliary ? out.auxiliary[i] * in.dAuxiliary[i] : 0);
      return total;
    };
    auto check = [&](Tensor<double> &operand, const Tensor<double> &gradient, const char *name) {
      constexpr double step = 1e-5;
      // Neighboring units share a vector. The stride is coprime to all sizes, so that each kind of
      // parameter is checked.
      for (size_t i = 0; i < operand.size(); i += operand.size() < 200 ? 1 : 37) {
        const double before = operand[i];
        operand[i] = before + step;
        const double above = loss();
        operand[i] = before - step;
        const double below = loss();
        operand[i] = before;
        ASSERT_NEAR(gradient[i], (above - below) / (2 * step), 1e-8) << name << ' ' << i;
      }
    };
    check(in.gates, found.dGates, "gates");
    check(in.state, found.dState, "state");
    if (c.cell == MTC_LSTM)
      check(in.cell, found.dCell, "cell");
    if (c.cell == MTC_GRU_RESET_AFTER) {
      Tensor<double> dBias(in.bias.size());
      for (size_t i = 0; i < found.dCandidate.size(); ++i)
        dBias[i % dBias.size()] += found.dCandidate[i];
      check(in.bias, dBias, "bias");
    }
  }
}

TEST(Recurrence, GradientsInSinglePrecision) {
  for (const Case &c : cases)
    for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
      SCOPED_TRACE(nameOf(c));
      Layer layer(c, MTC_F32, 1, VectorSet(set)), wideLayer(c, MTC_F64);
      Operands<float> in(layer.p);
      Operands<double> wide(layer.p);
      Gradients<float> found = layer.differentiate(in, layer.run(in));
      Gradients<double> expected = wideLayer.differentiate(wide, wideLayer.run(wide));
      expectNear(found.dGates, expected.dGates, 2e-4);
      expectNear(found.dState, expected.dState, 2e-4);
      expectNear(found.dCell, expected.dCell, 2e-4);
      expectNear(found.dCandidate, expected.dCandidate, 2e-4);
    }
}

TEST(Recurrence, BitsDependNeitherOnThreadsNorOnPlace) {
  // The layer is large enough for several threads.
  for (const Case &c : {Case{MTC_LSTM, 2, 61, 130}, Case{MTC_GRU, 2, 61, 130, true},
                        Case{MTC_GRU_RESET_AFTER, 2, 61, 130}, Case{MTC_RNN_TANH, 2, 61, 190}}) {
    SCOPED_TRACE(nameOf(c));
    Layer alone(c, MTC_F32);
    Operands<float> in(alone.p);
    Results<float> out = alone.run(in);
    Gradients<float> gradients = alone.differentiate(in, out);
    for (int threads : {1, 2, 7})
      for (bool isInPlace : {false, true}) {
        Layer layer(c, MTC_F32, threads);
        layer.p.is_in_place = isInPlace;
        EXPECT_EQ(layer.run(in), out) << threads << " threads, in place: " << isInPlace;
        EXPECT_EQ(layer.differentiate(in, out), gradients)
            << threads << " threads, in place: " << isInPlace;
      }
  }
}

TEST(Recurrence, LargePreactivationsSaturate) {
  Layer layer({MTC_LSTM, 1, 1, 3}, MTC_F32);
  Operands<float> in(layer.p);
  in.weights.assign(in.weights.size(), 0);
  in.cell = {1, 1, 1};
  in.gates = {-1e30f, 1e30f, NAN, 1e30f, 1e30f, 1e30f, 1e30f, -1e30f, 0, 1e30f, -1e30f, 1e30f};
  Results<float> out = layer.run(in);
  EXPECT_EQ(out.auxiliary[0], 1);  // f = 1, i = 0
  EXPECT_EQ(out.auxiliary[1], -1); // f = 0, i = 1, g = -1
  EXPECT_TRUE(std::isnan(out.states[2]));
}

TEST(Recurrence, SupportsOnlyF32AndF64) {
  MtcRecurrence p = {};
  p.steps = p.batch = p.hidden = 4;
  p.type = MTC_BF16;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_RECURRENCE, &p, 2), MTC_CALL_UNSUPPORTED);
  EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_RECURRENCE_GRADIENT, &p, 2), -1);
}

TEST(Recurrence, ScratchDoesNotDependOnTheSteps) {
  MtcRecurrence p = {};
  p.type = MTC_F32;
  p.batch = 32;
  p.hidden = 512;
  for (const char *kind : {MTC_RECURRENCE, MTC_RECURRENCE_GRADIENT}) {
    p.steps = 16;
    const int64_t few = mtc_call_scratch_bytes(MTC_ONEDNN, kind, &p, 4);
    p.steps = 4096;
    EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, kind, &p, 4), few);
  }
}

} // namespace
