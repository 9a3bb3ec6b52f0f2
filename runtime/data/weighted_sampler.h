// Sampling with replacement in proportion to weights: --sample-weights and --balance-classes.
#ifndef MTC_RUNTIME_DATA_WEIGHTED_SAMPLER_H
#define MTC_RUNTIME_DATA_WEIGHTED_SAMPLER_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mtc::runtime {

class DataColumn;

/// Draws samples like PyTorch's WeightedRandomSampler with replacement: an epoch has as many draws
/// as the data has samples. A draw is a pure function of (seed, epoch, index). Weights stay in
/// their file; only their sums over blocks are in memory: 16 KiB for a million samples.
class WeightedSampler {
public:
  /// Reads the weights of samples [first, first + count) as f64.
  using ReadWeights = std::function<void(int64_t first, int64_t count, double *to)>;

  /// `name` is the flag, for messages and checkpoints. Throws a user error if a weight is negative
  /// or not finite, or if all are 0.
  WeightedSampler(int64_t rows, std::string name, ReadWeights read);

  /// Returns the sample of a draw, in 0 to rows - 1.
  int64_t draw(uint64_t seed, uint64_t epoch, int64_t index) const;
  /// Returns the flag and the checksum of the weights, which identify the sampler in checkpoints.
  const std::string &description() const { return text; }

private:
  int64_t rows;
  std::string text;
  ReadWeights read;
  std::vector<double> ends; ///< sum of the weights up to the end of each block
};

/// Returns a sampler for a `.npy` or other data file of shape [rows]. Throws a user error if the
/// file does not fit.
WeightedSampler samplerOfFile(const std::string &file, int64_t rows);

/// Returns a sampler that draws each class of the labels equally often. Ignored labels are never
/// drawn. `column` must outlive the sampler.
WeightedSampler samplerOfClasses(const MtcInput &labels, const DataColumn &column);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_WEIGHTED_SAMPLER_H
