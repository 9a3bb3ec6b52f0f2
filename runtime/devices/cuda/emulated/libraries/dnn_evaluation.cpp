// Evaluates cuDNN operations with plain loops.
#include "runtime/devices/cuda/emulated/libraries/dnn_evaluation.h"

#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/devices/cuda/emulated/libraries/dnn_convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mtc::runtime::cuda::dnn {

namespace {

int64_t product(const std::vector<int64_t> &extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

float roundTo(int element, float value) {
  if (element == f16)
    return static_cast<float>(static_cast<_Float16>(value));
  if (element != bf16 || std::isnan(value))
    return value;
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000; // rounds to nearest, ties to even
  std::memcpy(&value, &bits, 4);
  return value;
}

float load(int element, const char *from) {
  float value = 0;
  if (element == f16) {
    _Float16 half = 0;
    std::memcpy(&half, from, 2);
    return static_cast<float>(half);
  }
  if (element == i32) {
    int32_t whole = 0;
    std::memcpy(&whole, from, 4);
    return static_cast<float>(whole);
  }
  std::memcpy(reinterpret_cast<char *>(&value) + (element == bf16 ? 2 : 0), from,
              element == bf16 ? 2 : 4);
  return value;
}

void store(int element, char *to, float value) {
  value = roundTo(element, value);
  if (element == f16) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(to, &half, 2);
  } else {
    std::memcpy(to, reinterpret_cast<const char *>(&value) + (element == bf16 ? 2 : 0),
                element == bf16 ? 2 : 4);
  }
}

/// The elements of a tensor in the order of its axes. Indices and booleans are stored as numbers.
struct Values {
  std::vector<int64_t> extents;
  std::vector<float> numbers;

  /// Returns the offset of an element. Axes of extent 1 are broadcast; if an axis is shorter by a
  /// divisor, each element covers a group of consecutive indices.
  size_t at(const std::vector<int64_t> &index, const std::vector<int64_t> &full) const {
    int64_t result = 0;
    for (size_t i = 0; i < extents.size(); ++i)
      result = result * extents[i] + index[i] / (full[i] / extents[i]);
    return static_cast<size_t>(result);
  }
};

template <typename Use> void forEachIndex(const std::vector<int64_t> &extents, const Use &use) {
  std::vector<int64_t> index(extents.size(), 0);
  int64_t count = product(extents);
  for (; count > 0; --count) {
    use(index);
    for (size_t i = extents.size(); i-- > 0;) {
      if (++index[i] < extents[i])
        break;
      index[i] = 0;
    }
  }
}

/// The layout of a tensor in memory.
struct Elements {
  explicit Elements(const DescriptorObject &tensor)
      : extents(tensor.values<int64_t>(tensorExtents)),
        strides(tensor.values<int64_t>(tensorStrides)), type(tensor.value<int>(tensorType)),
        bytes(type == f16 || type == bf16 ? 2 : 4) {}

  /// Calls `use` with each element's address, in the order of the axes.
  template <typename Use> void forEach(char *begin, Use use) const {
    std::vector<int64_t> index(extents.size(), 0);
    for (int64_t count = product(extents); count > 0; --count) {
      use(begin);
      for (size_t i = extents.size(); i-- > 0;) {
        begin += strides[i] * bytes;
        if (++index[i] < extents[i])
          break;
        begin -= extents[i] * strides[i] * bytes;
        index[i] = 0;
      }
    }
  }

  /// Calls `use` with memory ranges that contain exactly the elements.
  template <typename Use> void forEachPiece(char *begin, const Use &use) const {
    int64_t last = 0;
    for (size_t i = 0; i < extents.size(); ++i)
      last += (extents[i] - 1) * strides[i];
    if (last + 1 == product(extents))
      use(begin, static_cast<size_t>(last + 1) * bytes);
    else
      forEach(begin, [&](char *element) { use(element, static_cast<size_t>(bytes)); });
  }

  std::vector<int64_t> extents, strides;
  int type, bytes;
};

class Evaluation {
public:
  explicit Evaluation(const std::map<int64_t, char *> &addresses) : addresses(addresses) {}

  void run(const DescriptorObject &operation);
  std::string fault;

private:
  void setFault(const std::string &text) {
    if (fault.empty())
      fault = "cuDNN: " + text;
  }
  const DescriptorObject &tensor(const DescriptorObject &operation, int attribute) {
    return *operation.value<RawDescriptor>(attribute);
  }
  Values empty(const DescriptorObject &tensor) {
    Values result{tensor.values<int64_t>(tensorExtents), {}};
    result.numbers.resize(static_cast<size_t>(product(result.extents)));
    return result;
  }
  /// Returns the address of a tensor in memory. Returns null and sets an error if it is not bound
  /// or its memory is not accessible.
  char *begin(const DescriptorObject &tensor, const Elements &elements, bool isRead) {
    auto address = addresses.find(tensor.value<int64_t>(tensorId));
    if (address == addresses.end()) {
      setFault("a tensor of the graph has no address");
      return nullptr;
    }
    if (!tensor.value<char>(tensorIsByValue))
      elements.forEachPiece(address->second, [&](char *piece, size_t bytes) {
        if (std::string wrong = fault.empty() ? emulation::findFault(piece, bytes, isRead) : "";
            !wrong.empty())
          setFault(wrong);
      });
    return fault.empty() ? address->second : nullptr;
  }
  const Values &read(const DescriptorObject &tensor);
  void write(const DescriptorObject &tensor, Values values);

  void convolution(const DescriptorObject &operation);
  void matmul(const DescriptorObject &operation);
  void pointwise(const DescriptorObject &operation);
  void reduce(const DescriptorObject &operation);
  void transpose(const DescriptorObject &operation);

  const std::map<int64_t, char *> &addresses;
  std::map<int64_t, Values> known; ///< by tensor ID
};

const Values &Evaluation::read(const DescriptorObject &tensor) {
  const auto id = tensor.value<int64_t>(tensorId);
  auto found = known.find(id);
  if (found != known.end())
    return found->second;
  Values result = empty(tensor);
  const Elements elements(tensor);
  if (tensor.value<char>(tensorIsVirtual))
    setFault("an inner tensor is read that no operation has written");
  else if (char *memory = begin(tensor, elements, true))
    elements.forEach(memory, [&, next = size_t{0}](const char *element) mutable {
      result.numbers[next++] = load(elements.type, element);
    });
  return known[id] = std::move(result);
}

void Evaluation::write(const DescriptorObject &tensor, Values values) {
  const Elements elements(tensor);
  for (float &number : values.numbers)
    number = roundTo(elements.type, number);
  char *memory = tensor.value<char>(tensorIsVirtual) ? nullptr : begin(tensor, elements, false);
  if (memory) {
    elements.forEach(memory, [&, next = size_t{0}](char *element) mutable {
      store(elements.type, element, values.numbers[next++]);
    });
    elements.forEachPiece(memory, emulation::markDefined);
  }
  known[tensor.value<int64_t>(tensorId)] = std::move(values);
}

/// Evaluates a convolution. The computed tensor is not read.
void Evaluation::convolution(const DescriptorObject &operation) {
  const ConvolutionAttributes names = attributesOf(static_cast<Kind>(operation.kind));
  const int computed = operation.kind == convolutionForward        ? names.y
                       : operation.kind == convolutionBackwardData ? names.x
                                                                   : names.w;
  auto numbers = [&](int attribute) {
    const DescriptorObject &operand = tensor(operation, attribute);
    return attribute == computed ? empty(operand).numbers : read(operand).numbers;
  };
  Values result = empty(tensor(operation, computed));
  result.numbers = convolve(operation, numbers(names.w), numbers(names.x), numbers(names.y));
  write(tensor(operation, computed), std::move(result));
}

void Evaluation::matmul(const DescriptorObject &operation) {
  const Values &a = read(tensor(operation, matmulA)), &b = read(tensor(operation, matmulB));
  Values c = empty(tensor(operation, matmulC));
  if (a.extents[3] != b.extents[2] || a.extents[2] != c.extents[2] ||
      b.extents[3] != c.extents[3] || c.extents[1] % b.extents[1] != 0)
    return setFault("a product's matrices do not fit");
  forEachIndex(c.extents, [&](const std::vector<int64_t> &index) {
    double sum = 0;
    std::vector<int64_t> left = index, right = index;
    right[1] = index[1] / (c.extents[1] / b.extents[1]);
    for (int64_t k = 0; k < a.extents[3]; ++k) {
      left[3] = right[2] = k;
      sum += static_cast<double>(a.numbers[a.at(left, a.extents)]) *
             static_cast<double>(b.numbers[b.at(right, b.extents)]);
    }
    c.numbers[c.at(index, c.extents)] = static_cast<float>(sum);
  });
  write(tensor(operation, matmulC), std::move(c));
}

void Evaluation::pointwise(const DescriptorObject &operation) {
  const DescriptorObject &function = *operation.value<RawDescriptor>(operationPointwise);
  const int mode = function.value<int>(pointwiseMode);
  const auto axis = static_cast<size_t>(function.value<int64_t>(pointwiseAxis));
  const Values &x = read(tensor(operation, pointwiseX));
  auto optional = [&](int attribute) {
    auto raw = operation.value<RawDescriptor>(attribute);
    return raw ? &read(*raw) : nullptr;
  };
  const Values *b = optional(pointwiseB), *t = optional(pointwiseT);
  Values y = empty(tensor(operation, pointwiseY));
  forEachIndex(y.extents, [&](const std::vector<int64_t> &index) {
    const float first = x.numbers[x.at(index, y.extents)];
    const float second = b ? b->numbers[b->at(index, y.extents)] : 0;
    float result = 0;
    switch (mode) {
    case add:
      result = first + second;
      break;
    case multiply:
      result = first * second;
      break;
    case divide:
      result = first / second;
      break;
    case subtract:
      result = first - second;
      break;
    case exponential:
      result = std::exp(first);
      break;
    case logarithm:
      result = std::log(first);
      break;
    case relu:
      result = first <= 0 ? 0 : first;
      break;
    case isAtLeast:
      result = first >= second ? 1 : 0;
      break;
    case dnn::index:
      result = static_cast<float>(index[axis]);
      break;
    case dnn::select:
      result = t->numbers[t->at(index, y.extents)] != 0 ? first : second;
      break;
    default:
      setFault("an unknown function of elements");
    }
    y.numbers[y.at(index, y.extents)] = result;
  });
  write(tensor(operation, pointwiseY), std::move(y));
}

void Evaluation::reduce(const DescriptorObject &operation) {
  const bool isSum =
      operation.value<RawDescriptor>(operationReduction)->value<int>(reductionOperator) ==
      sumReduction;
  const Values &x = read(tensor(operation, reductionX));
  Values y = empty(tensor(operation, reductionY));
  std::fill(y.numbers.begin(), y.numbers.end(),
            isSum ? 0 : -std::numeric_limits<float>::infinity());
  forEachIndex(x.extents, [&](const std::vector<int64_t> &index) {
    float &result = y.numbers[y.at(index, x.extents)];
    const float value = x.numbers[x.at(index, x.extents)];
    result = isSum ? result + value : std::max(result, value);
  });
  write(tensor(operation, reductionY), std::move(y));
}

void Evaluation::transpose(const DescriptorObject &operation) {
  const Values &x = read(tensor(operation, reshapeX));
  Values y = empty(tensor(operation, reshapeY));
  forEachIndex(y.extents, [&](const std::vector<int64_t> &index) {
    y.numbers[y.at(index, y.extents)] =
        x.numbers[x.at({index[0], index[1], index[3], index[2]}, x.extents)];
  });
  write(tensor(operation, reshapeY), std::move(y));
}

void Evaluation::run(const DescriptorObject &operation) {
  switch (operation.kind) {
  case convolutionForward:
  case convolutionBackwardData:
  case convolutionBackwardFilter:
    return convolution(operation);
  case matmulOperation:
    return matmul(operation);
  case pointwiseOperation:
    return pointwise(operation);
  case reductionOperation:
    return reduce(operation);
  case reshapeOperation:
    return transpose(operation);
  default:
    setFault("an unknown operation");
  }
}

} // namespace

std::string evaluate(const DescriptorObject &graph, const std::map<int64_t, char *> &addresses) {
  Evaluation evaluation(addresses);
  for (RawDescriptor operation : graph.values<RawDescriptor>(graphOperations)) {
    evaluation.run(*operation);
    if (!evaluation.fault.empty())
      break;
  }
  return evaluation.fault;
}

} // namespace mtc::runtime::cuda::dnn
