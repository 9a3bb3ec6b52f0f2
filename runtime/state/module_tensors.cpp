// Converts between variables and the layouts listed in the program's tables.
#include "runtime/state/module_tensors.h"

#include "runtime/state/variables.h"
#include "runtime/support/element_type.h"

#include <map>
#include <numeric>

namespace mtc::runtime {

static int64_t product(const int64_t *begin, uint32_t count) {
  return std::accumulate(begin, begin + count, int64_t{1}, std::multiplies<>());
}

MtcTensor valueOf(const MtcProgram &program, uint32_t variable) {
  const MtcTensor *source = program.variables[variable].source;
  return source ? *source : wholeTensor(program.variables[variable], lowHalfOf(program, variable));
}

std::vector<int64_t> shapeOf(const MtcTensorImage &image) {
  return {image.dims, image.dims + image.rank};
}

MtcTensor tensorOf(const MtcTensor &value, const MtcTensorImage &image) {
  MtcTensor tensor = value;
  tensor.name = image.name;
  tensor.rank = image.rank;
  tensor.dims = image.dims;
  return tensor;
}

/// Returns the number of a variable's elements in an image.
static int64_t elementsHeld(const MtcTensorImage &image) {
  if (image.part_count == 0)
    return product(image.dims, image.rank);
  int64_t held = 0;
  for (uint32_t i = 0; i < image.part_count; ++i)
    held += product(image.parts[i].extents, image.parts[i].rank);
  return held;
}

/// Returns images in groups that each cover all elements of a value.
static std::vector<ImageGroup> groupsOf(const MtcTensorImage *images, uint32_t imageCount,
                                        const MtcTensor &value) {
  const int64_t count = product(value.dims, value.rank);
  std::vector<ImageGroup> groups;
  int64_t held = count;
  for (uint32_t i = 0; i < imageCount; ++i) {
    if (held >= count) {
      groups.emplace_back();
      held = 0;
    }
    groups.back().push_back(&images[i]);
    held += elementsHeld(images[i]);
  }
  return groups;
}

std::vector<ImageGroup> imageGroups(const MtcProgram &program, uint32_t variable) {
  const MtcVariable &described = program.variables[variable];
  if (described.image_count == 0)
    return {};
  return groupsOf(described.images, described.image_count, valueOf(program, variable));
}

std::vector<ImageGroup> pretrainedGroups(const MtcProgram &program, uint32_t variable) {
  const MtcVariable &described = program.variables[variable];
  if (described.pretrained_image_count == 0)
    return {};
  return groupsOf(described.pretrained_images, described.pretrained_image_count,
                  valueOf(program, variable));
}

int64_t ModuleTensor::bytes() const {
  return product(dims.data(), static_cast<uint32_t>(dims.size())) * typeBytes(type);
}

/// Returns the images of a variable that files contain.
static ImageGroup imagesOf(const MtcProgram &program, uint32_t variable, ModuleNames names) {
  if (names == ModuleNames::Pretrained)
    if (auto groups = pretrainedGroups(program, variable); !groups.empty())
      return groups.front();
  ImageGroup images;
  for (const auto &group : imageGroups(program, variable))
    if (images.empty() || names == ModuleNames::All)
      images.insert(images.end(), group.begin(), group.end());
  return images;
}

std::set<uint32_t> completeVariables(const MtcProgram &program, ModuleNames names,
                                     const std::function<bool(uint32_t)> &includes) {
  std::set<uint32_t> complete;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (includes(i))
      complete.insert(i);
  for (size_t count = 0; count != complete.size();) {
    count = complete.size();
    std::map<std::string, int64_t> held;
    for (const uint32_t variable : complete)
      for (const MtcTensorImage *image : imagesOf(program, variable, names))
        held[image->name] += elementsHeld(*image);
    std::erase_if(complete, [&](uint32_t variable) {
      for (const MtcTensorImage *image : imagesOf(program, variable, names))
        if (held[image->name] < product(image->dims, image->rank))
          return true;
      return false;
    });
  }
  return complete;
}

std::vector<ModuleTensor> moduleTensors(const MtcProgram &program, ModuleNames names,
                                        const std::function<bool(uint32_t)> &includes) {
  std::vector<ModuleTensor> tensors;
  std::map<std::string, size_t> known;
  auto add = [&](const std::string &name, const MtcTensor &value, std::vector<int64_t> dims,
                 ModuleTensor::Piece piece) {
    auto [found, isNew] = known.emplace(name, tensors.size());
    if (isNew)
      tensors.push_back({name, value.type, std::move(dims), {}});
    tensors[found->second].pieces.push_back(piece);
  };
  const std::set<uint32_t> complete = completeVariables(program, names, includes);
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    if (!includes(i))
      continue;
    const MtcTensor value = valueOf(program, i);
    const auto images = imagesOf(program, i, names);
    if (images.empty() || !complete.contains(i))
      add(value.name, value, shapeOf(value), {i, nullptr});
    else
      for (const MtcTensorImage *image : images)
        add(image->name, value, shapeOf(*image), {i, image});
  }
  return tensors;
}

} // namespace mtc::runtime
