// Packs the weights, distributes the tasks of each step over threads and selects the instruction
// set.
//
// A step multiplies a few rows by all weights. A library would pack the weights again in every
// step, or read them unpacked. Here they are packed once per call, and each thread reads the same
// panels in all steps. A product's tile is still in the cache when its gates are computed.
#include "runtime/calls/recurrence/cpu/recurrence.h"

#include "runtime/calls/recurrence/cpu/pass.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <type_traits>

namespace mtc::runtime {
namespace {

#define MTC_VECTOR_CODE "runtime/calls/recurrence/cpu/steps.inc"
#include "runtime/devices/cpu/vector/each_vector_set.inc"

template <typename Element> class Recurrence final : public LibraryCall {
public:
  Recurrence(const MtcRecurrence &recurrence, bool isGradient, int maximalThreads, VectorSet set)
      : p(recurrence), isGradient(isGradient), tasks(p, isGradient, sizeof(Element)), set(set) {
    runTasks = isGradient ? MTC_OF_SET(set, backwardTasks<Element>)
                          : MTC_OF_SET(set, forwardTasks<Element>);
    // A step is too short for more threads if its product is.
    const double flops = 2.0 * static_cast<double>(p.batch * p.hidden) *
                         static_cast<double>(mtc_recurrence_gates(p.cell) * p.hidden);
    threads = static_cast<int>(std::clamp<int64_t>(usefulThreads(flops, maximalThreads), 1,
                                                   std::max<int64_t>(tasks.count(), 1)));
    panelBytes = bytesOf(tasks.blocks * tasks.depth * tasks.width);
    const bool hasCarry = isGradient && mtc_recurrence_has_auxiliary(p.cell);
    carryBytes = hasCarry ? bytesOf(p.batch * p.hidden) : 0;
    linesBytes = bytesOf(p.batch * tasks.line);
    tileBytes = bytesOf(tasks.rows * tasks.width);
  }

  int64_t scratchBytes() const override {
    return panelBytes + carryBytes + 2 * linesBytes + tileBytes * threads;
  }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_FAST; }
  std::string implementation() const override { return std::string("steps ") + vectorSetName(set); }

  void run(char *const *buffers, char *scratch) override {
    RecurrencePass<Element> pass(p, tasks, isGradient, buffers);
    pass.panels = reinterpret_cast<Element *>(scratch);
    pass.carry = reinterpret_cast<Element *>(scratch + panelBytes);
    char *lines = scratch + panelBytes + carryBytes, *tiles = lines + 2 * linesBytes;
    pass.lines[0] = reinterpret_cast<Element *>(lines);
    pass.lines[1] = reinterpret_cast<Element *>(lines + linesBytes);
    if (!isGradient)
      for (int64_t row = 0; row < p.batch; ++row)
        std::copy_n(pass.state + row * p.hidden, p.hidden, pass.linesOf(-1) + row * tasks.line);
    parallelFor(threads, tasks.blocks, 1, [&](int, int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        isGradient ? packRows(pass, block) : packColumns(pass, block);
    });
    const int phases = p.cell == MTC_GRU ? 2 : 1;
    auto step = [&](int64_t n, int phase) {
      parallelFor(threads, tasks.count(), 1, [&](int part, int64_t begin, int64_t end) {
        runTasks(pass, n, phase, begin, end, reinterpret_cast<Element *>(tiles + tileBytes * part));
      });
    };
    for (int64_t i = 0; i < p.steps; ++i)
      for (int phase = 0; phase < phases; ++phase)
        step(isGradient ? p.steps - 1 - i : i, phase);
    if (isGradient)
      step(-1, 0);
  }

private:
  using RunTasks = void (*)(const RecurrencePass<Element> &, int64_t, int, int64_t, int64_t,
                            Element *);

  static int64_t bytesOf(int64_t elements) {
    return alignedBytes(elements * static_cast<int64_t>(sizeof(Element)));
  }

  /// Packs the columns of the block's units in the transposed weights: [hidden, gates, units].
  /// Units beyond the last are 0.
  void packColumns(const RecurrencePass<Element> &pass, int64_t block) const {
    Element *panel = pass.panels + block * tasks.depth * tasks.width;
    for (int64_t g = 0; g < pass.gates; ++g)
      for (int64_t u = 0; u < tasks.units; ++u) {
        const int64_t unit = block * tasks.units + u;
        const Element *row = pass.weights + (g * p.hidden + unit) * p.hidden;
        Element *to = panel + g * tasks.units + u;
        for (int64_t k = 0; k < p.hidden; ++k)
          to[k * tasks.width] = unit < p.hidden ? row[k] : Element(0);
      }
  }
  /// Packs the columns of the block's units in the weights: [gates * hidden, units].
  void packRows(const RecurrencePass<Element> &pass, int64_t block) const {
    Element *to = pass.panels + block * tasks.depth * tasks.width;
    const int64_t unit = block * tasks.units, count = std::min(tasks.units, p.hidden - unit);
    const Element *from = pass.weights + unit;
    for (int64_t k = 0; k < tasks.depth; ++k, from += p.hidden, to += tasks.units) {
      std::copy_n(from, count, to);
      std::fill_n(to + count, tasks.units - count, Element(0));
    }
  }

  const MtcRecurrence p;
  bool isGradient;
  RecurrenceTasks tasks;
  VectorSet set;
  RunTasks runTasks;
  int threads;
  int64_t panelBytes, carryBytes, linesBytes, tileBytes;
};

} // namespace

std::unique_ptr<LibraryCall> createRecurrence(const MtcRecurrence &recurrence, bool isGradient,
                                              int threads, VectorSet set) {
  if (recurrence.type == MTC_F32)
    return std::make_unique<Recurrence<float>>(recurrence, isGradient, threads, set);
  if (recurrence.type == MTC_F64)
    return std::make_unique<Recurrence<double>>(recurrence, isGradient, threads, set);
  return nullptr;
}

template <bool isGradient>
static std::unique_ptr<LibraryCall> createCall(const void *record, int threads, bool) {
  return createRecurrence(*static_cast<const MtcRecurrence *>(record), isGradient, threads,
                          machineVectors());
}

static bool isNeverFasterAsKernel(const void *) { return false; }

const CallKind recurrenceCalls = {MTC_RECURRENCE, createCall<false>, isNeverFasterAsKernel};
const CallKind recurrenceGradientCalls = {MTC_RECURRENCE_GRADIENT, createCall<true>,
                                          isNeverFasterAsKernel};

} // namespace mtc::runtime
