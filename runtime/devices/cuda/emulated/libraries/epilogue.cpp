// Epilogues in plain loops, as documented by NVIDIA, with a check of every access.
#include "runtime/devices/cuda/emulated/libraries/epilogue.h"

#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mtc::runtime::cuda {

/// Loads an element of a storage type as f32.
static float load(uint32_t type, const char *data, int64_t index) {
  return withFloat(type, [&](auto format) {
    typename decltype(format)::Stored value;
    std::memcpy(&value, data + index * static_cast<int64_t>(sizeof value), sizeof value);
    return static_cast<float>(format.widen(value));
  });
}

static void store(uint32_t type, char *data, int64_t index, float value) {
  withFloat(type, [&](auto format) {
    const auto stored = format.round(value);
    std::memcpy(data + index * static_cast<int64_t>(sizeof stored), &stored, sizeof stored);
  });
}

static double gelu(double x) {
  const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

static double geluGradient(double x) {
  const double scale = std::sqrt(2 / M_PI), t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

bool BlasEpilogue::isSupported() const {
  constexpr uint32_t alone[] = {plainEpilogue,
                                geluEpilogue,
                                geluEpilogue | auxiliaryEpilogue,
                                geluGradientEpilogue | auxiliaryEpilogue,
                                geluGradientEpilogue | auxiliaryEpilogue | biasGradientEpilogue,
                                biasGradientAEpilogue,
                                biasGradientBEpilogue},
                     biased[] = {0, geluEpilogue, geluEpilogue | auxiliaryEpilogue};
  const bool isKind = kind & biasEpilogue
                          ? std::count(std::begin(biased), std::end(biased), kind & ~biasEpilogue)
                          : std::count(std::begin(alone), std::end(alone), kind);
  if (!isKind || (kind != plainEpilogue && d.type == blasF64))
    return false;
  const bool hasMatrix = kind & auxiliaryEpilogue;
  return !hasMatrix || (auxiliaryLeading >= d.rows && auxiliaryLeading % 8 == 0 &&
                        auxiliary % 16 == 0 && (d.batch == 1 || auxiliaryStride % 8 == 0));
}

bool BlasEpilogue::writesSums() const {
  return kind & (biasGradientEpilogue | biasGradientAEpilogue | biasGradientBEpilogue);
}

MatrixLayoutObject BlasEpilogue::auxiliaryLayout() const {
  return {d.type, d.rows, d.columns, auxiliaryLeading, d.batch, auxiliaryStride};
}

int64_t BlasEpilogue::sumCount() const { return kind & biasGradientBEpilogue ? d.columns : d.rows; }

std::string BlasEpilogue::findFault() const {
  if (kind & auxiliaryEpilogue) {
    const bool isRead = kind & geluGradientEpilogue;
    std::string fault = forEachRun(
        auxiliaryLayout(), reinterpret_cast<char *>(auxiliary), [&](char *at, int64_t bytes) {
          return emulation::findFault(at, static_cast<size_t>(bytes), isRead);
        });
    if (!fault.empty())
      return fault;
  }
  if (!writesSums())
    return "";
  const auto bytes = static_cast<size_t>(sumCount() * typeBytes(elementType(d.type)));
  std::string fault = emulation::findFault(reinterpret_cast<char *>(vector), bytes, false);
  return fault.empty() ? fault : "cuBLASLt: " + fault;
}

void BlasEpilogue::activate() const {
  const uint32_t type = elementType(d.type);
  auto *matrix = reinterpret_cast<char *>(auxiliary);
  for (int64_t entry = 0; entry < d.batch; ++entry)
    for (int64_t column = 0; column < d.columns; ++column)
      for (int64_t row = 0; row < d.rows; ++row) {
        const int64_t at = entry * d.stride + column * d.leading + row,
                      besides = entry * auxiliaryStride + column * auxiliaryLeading + row;
        const float z = load(type, dData, at);
        if (kind & geluEpilogue)
          store(type, dData, at, static_cast<float>(gelu(static_cast<double>(z))));
        else
          store(type, dData, at,
                static_cast<float>(static_cast<double>(z) *
                                   geluGradient(static_cast<double>(load(type, matrix, besides)))));
        if ((kind & geluEpilogue) && (kind & auxiliaryEpilogue))
          store(type, matrix, besides, z);
      }
  if ((kind & geluEpilogue) && (kind & auxiliaryEpilogue))
    forEachRun(auxiliaryLayout(), matrix, [](char *at, int64_t bytes) {
      emulation::markDefined(at, static_cast<size_t>(bytes));
      return std::string();
    });
}

void BlasEpilogue::sum() const {
  const uint32_t type = elementType(d.type);
  const MatrixLayoutObject &summed = kind & biasGradientEpilogue    ? d
                                     : kind & biasGradientAEpilogue ? a
                                                                    : b;
  const char *data = kind & biasGradientEpilogue    ? dData
                     : kind & biasGradientAEpilogue ? aData
                                                    : bData;
  // Sums are per row of D and of A after its transposition, and per column of B.
  const bool keepsRows = kind & biasGradientEpilogue    ? true
                         : kind & biasGradientAEpilogue ? !transposesA
                                                        : transposesB;
  const int64_t kept = keepsRows ? summed.rows : summed.columns,
                depth = keepsRows ? summed.columns : summed.rows;
  auto *sums = reinterpret_cast<char *>(vector);
  for (int64_t i = 0; i < kept; ++i) {
    double total = 0;
    for (int64_t k = 0; k < depth; ++k)
      total +=
          static_cast<double>(load(elementType(summed.type), data,
                                   keepsRows ? k * summed.leading + i : i * summed.leading + k));
    store(type, sums, i, static_cast<float>(total));
  }
  emulation::markDefined(sums, static_cast<size_t>(kept * typeBytes(type)));
}

void BlasEpilogue::run() const {
  if (kind & (geluEpilogue | geluGradientEpilogue))
    activate();
  if (writesSums())
    sum();
}

} // namespace mtc::runtime::cuda
