// Normalization of inputs while they are read: --scale, --mean and --std.
#ifndef MTC_RUNTIME_DATA_NORMALIZATION_H
#define MTC_RUNTIME_DATA_NORMALIZATION_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// A factor of --scale. It is a fraction, so that 1/255 divides by 255 as PyTorch's ToTensor does.
struct ScaleFactor {
  float numerator = 1, denominator = 1;
  bool operator==(const ScaleFactor &) const = default;
};

/// The normalization y = (x * scale - mean) / std of one input. Each list has one value, or a value
/// for each channel; an empty list has no effect.
struct Normalization {
  std::vector<ScaleFactor> scale;
  std::vector<float> mean, std;
  bool operator==(const Normalization &) const = default;
};

/// Normalizations by name of the input.
using Normalizations = std::map<std::string, Normalization>;

/// Parse lists such as "1/255" and "0.485,0.456,0.406". Throw the problem as a user error without
/// the flag: "expected a finite number, such as 0.001". Standard deviations are positive.
std::vector<ScaleFactor> parseScale(std::string_view text);
std::vector<float> parseMean(std::string_view text);
std::vector<float> parseStd(std::string_view text);

/// Returns lists in the form that the parsers read.
std::string scaleText(const std::vector<ScaleFactor> &scale);
std::string numbersText(const std::vector<float> &numbers);

/// Returns the flags of all normalizations: "--scale x=1/255 --mean x=0.5".
std::string flagsOf(const Normalizations &normalizations);

/// A normalization for samples of one shape.
class ChannelNormalizer {
public:
  /// The values belong to the first axis of a sample, as in PyTorch's Normalize of images [C, H,
  /// W]; if their number differs from its extent but equals that of the last axis, to that axis:
  /// [H, W, C]. `name` is the input's name. Throws a user error if the number of values equals
  /// neither extent.
  ChannelNormalizer(const Normalization &normalization, const std::vector<int64_t> &sampleDims,
                    const std::string &name);

  /// Normalizes `count` consecutive elements of samples, in f32. `first` is the index of the first
  /// one in its sample; the elements may continue in further samples.
  void apply(float *values, int64_t count, int64_t first) const;

private:
  /// Values of each channel; repeated if each element is of another channel than the next.
  std::vector<float> numerators, denominators, means, deviations;
  int64_t elementsOfChannel = 1; ///< consecutive elements of one channel
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_NORMALIZATION_H
