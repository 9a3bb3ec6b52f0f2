#include "runtime/loop/data_flags.h"

#include "runtime/data/data_file.h"
#include "runtime/data/file_list.h"
#include "runtime/data/images/image_folder.h"
#include "runtime/data/last_batch.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "support/terminal/suggestions.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

/// Returns the size of the longest name of an input with which NAME=TEXT starts; 0 if there is
/// none.
size_t sizeOfName(const FlagValue &value) {
  size_t longest = 0;
  for (uint32_t i = 0; i < value.program.input_count; ++i) {
    const std::string name = value.program.inputs[i].tensor.name;
    if (name.size() > longest && value.text.starts_with(name + "="))
      longest = name.size();
  }
  return longest;
}

/// Splits NAME=TEXT. Because NAME and TEXT may contain `=`, NAME is the longest matching input
/// name.
std::pair<std::string, std::string> splitColumn(const FlagValue &value, const char *form) {
  const size_t size = sizeOfName(value), equals = size ? size : value.text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == value.text.size())
    userError(value.flag, " ", value.text, ": expected ", form);
  return {value.text.substr(0, equals), value.text.substr(equals + 1)};
}

/// Throws a user error unless the program has an input of floats with this name.
void checkIsFloat(const FlagValue &value, const std::string &name) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < value.program.input_count; ++i) {
    const MtcTensor &tensor = value.program.inputs[i].tensor;
    names.emplace_back(tensor.name);
    if (name == tensor.name && (isInteger(tensor.type) || tensor.type == MTC_BOOL))
      userError(value.flag, " ", value.text, ": the input '", name, "' is ", typeName(tensor.type),
                "; expected an input of floats");
  }
  if (std::find(names.begin(), names.end(), name) == names.end())
    userError(value.flag, " ", value.text, ": the program has no input '", name, "'",
              terminal::suggestNames(name, names), "; its inputs are ", terminal::listNames(names));
}

/// Sets one list of an input's normalization.
template <auto field, typename Parse>
void setNormalization(Options &options, const FlagValue &value, const Parse &parse) {
  const auto [name, list] = splitColumn(value, "NAME=VALUES");
  checkIsFloat(value, name);
  auto &values = options.normalizations[name].*field;
  if (!values.empty())
    userError(value.flag, " ", value.text, ": '", name, "' is given twice");
  try {
    values = parse(list);
  } catch (const Failure &failure) {
    userError(value.flag, " ", value.text, ": ", failure.what());
  }
}

void setAugmentation(Options &options, const FlagValue &value) {
  const auto [name, list] = splitColumn(value, "NAME=LIST");
  checkIsFloat(value, name);
  if (options.augmentations.contains(name))
    userError(value.flag, " ", value.text, ": '", name, "' is given twice");
  try {
    options.augmentations[name] = parseAugmentation(list);
  } catch (const Failure &failure) {
    userError(value.flag, " ", value.text, ": ", failure.what());
  }
}

void setShuffle(Options &options, bool shuffle) {
  if (options.shuffle && *options.shuffle != shuffle)
    userError("--shuffle and --no-shuffle contradict each other; give one of them");
  options.shuffle = shuffle;
}

void setLastBatch(Options &options, const FlagValue &value) {
  // The parser has checked that the value is one of the flag's choices.
  options.lastBatch = lastBatchOfName(value.text);
}

} // namespace

void addDataFile(std::vector<std::pair<std::string, std::string>> &files, const FlagValue &value) {
  if (sizeOfName(value) || !isFolder(value.text) || !value.program.input_count) {
    files.push_back(splitColumn(value, "NAME=FILE, or a folder with a file for each input"));
    return;
  }
  const size_t before = files.size();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < value.program.input_count; ++i) {
    names.emplace_back(value.program.inputs[i].tensor.name);
    if (const std::string file = fileOfInput(value.text, names.back()); !file.empty())
      files.emplace_back(names.back(), file);
  }
  if (files.size() == before && isImageFolder(value.text)) {
    std::vector<std::string> ofImages;
    for (uint32_t i = 0; i < value.program.input_count; ++i)
      if (acceptsImages(value.program.inputs[i]))
        ofImages.push_back(names[i]);
    if (ofImages.size() > 1)
      userError(value.flag, " ", value.text,
                ": several inputs accept images: ", terminal::listNames(ofImages),
                "; expected one of them, such as ", ofImages.front(), "=", value.text);
    if (!ofImages.empty())
      files.emplace_back(ofImages.front(), value.text);
  }
  if (files.size() == before)
    userError(value.flag, " ", value.text, ": the folder has no file of an input; expected ",
              names.front(), ".npy, or ", names.front(), "=", value.text,
              " for a folder of shards or images. The inputs are ", terminal::listNames(names));
}

namespace {

/// Flags about the values of inputs.
std::vector<OptionFlag> valueFlags() {
  return {
      {{.name = "data",
        .value = "NAME=FILE",
        .summary = "Data of an input: .npy, .npz, .safetensors, token .bin or images",
        .detail =
            "Without NAME=, a folder with a file for each input, such as x.npy: that of python -m "
            "mtc.data; or a folder of images, if one input accepts images. "
            "FILE,FILE,..., a quoted pattern 'DIR/*.npy' or a folder of .npy files joins files "
            "along the first axis. FILE:NAME is an array of a .npz or .safetensors file, "
            "FILE:TYPE the token type of a .bin (u16, u32). A folder with a folder of .jpg or .png "
            "files for each class feeds an input of images, and its sorted names are the labels. "
            "Values are converted to the "
            "input's type. The first axis is the batch, or, in files with one axis more "
            "than the input, the step. Labels of causal-lm are the next tokens: those of a "
            "token .bin follow from it, Hugging Face's must be shifted by one.",
        .group = "Data",
        .isCommon = true,
        .isRepeatable = true},
       [](Options &o, const FlagValue &v) { addDataFile(o.data, v); }},
      {{.name = "scale",
        .value = "NAME=FACTORS",
        .summary = "Multiply the data of an input, such as x=1/255",
        .detail =
            "The normalization of an input is (x * scale - mean) / std in f32, computed while "
            "the data is read. A list has one value, or one for each channel: the first axis "
            "of a sample, or the last one if only its size fits. Checkpoints contain the "
            "normalization, and a resumed run keeps it.",
        .defaultValue = "1",
        .group = "Data",
        .isRepeatable = true},
       [](Options &o, const FlagValue &v) {
         setNormalization<&Normalization::scale>(o, v, parseScale);
       }},
      {{.name = "mean",
        .value = "NAME=MEANS",
        .summary = "Subtract a mean from an input after --scale",
        .detail = "x=0.485,0.456,0.406 subtracts one mean for each channel.",
        .defaultValue = "0",
        .group = "Data",
        .isRepeatable = true},
       [](Options &o, const FlagValue &v) {
         setNormalization<&Normalization::mean>(o, v, parseMean);
       }},
      {{.name = "std",
        .value = "NAME=DEVIATIONS",
        .summary = "Divide an input by a standard deviation after --mean",
        .defaultValue = "1",
        .group = "Data",
        .isRepeatable = true},
       [](Options &o, const FlagValue &v) {
         setNormalization<&Normalization::std>(o, v, parseStd);
       }},
      {{.name = "augment",
        .value = "NAME=LIST",
        .summary = "Augment images in training, such as x=crop:4,flip",
        .detail =
            "resize:SIDE resizes the shorter side of images, in evaluation, too (images of "
            "folders: to cover the input); crop crops images that are larger than the input, at "
            "random after adding PADDING "
            "zeros at each side (crop:PADDING), or the center in evaluation; "
            "resized-crop:AREA resizes a random part of at least this fraction of the area "
            "(0.08); flip flips half of the images horizontally; brightness:X, contrast:X and "
            "saturation:X multiply by a factor of 1-X to 1+X; hue:X rotates the color wheel by -X "
            "to X turns. Images depend on --seed and the "
            "position of the sample in the run. Checkpoints contain the augmentation, and a "
            "resumed run keeps it.",
        .group = "Data",
        .isRepeatable = true},
       setAugmentation},
      {{.name = "read-threads",
        .value = "N",
        .summary = "Threads that read, decode, convert and augment large samples",
        .defaultValue = "up to 4",
        .group = "Data"},
       [](Options &o, const FlagValue &v) { o.readThreads = v.number<int>(1, 1024); }},
  };
}

/// Flags about the samples of a step.
std::vector<OptionFlag> sampleFlags() {
  return {
      {{.name = "no-shuffle",
        .value = "",
        .summary = "Read samples in the order of the file",
        .group = "Data",
        .isCommon = true},
       [](Options &o, const FlagValue &) { setShuffle(o, false); }},
      {{.name = "shuffle",
        .value = "",
        .summary = "Shuffle samples in each epoch, as by default",
        .group = "Data"},
       [](Options &o, const FlagValue &) { setShuffle(o, true); }},
      {{.name = "sample-weights",
        .value = "FILE",
        .summary = "Draw samples in proportion to weights, with replacement",
        .detail =
            "One number for each sample, such as a .npy. An epoch draws as many samples as the "
            "data has, as PyTorch's WeightedRandomSampler. The weights do not scale the loss.",
        .group = "Data"},
       [](Options &o, const FlagValue &v) { o.sampleWeights = v.file(); }},
      {{.name = "balance-classes",
        .value = "",
        .summary = "Draw samples of each class equally often, with replacement",
        .group = "Data"},
       [](Options &o, const FlagValue &) { o.balancesClasses = true; }},
      {{.name = "bucket-by",
        .value = "WHAT",
        .summary = "Form batches of rows of similar lengths",
        .detail = "For programs with several shapes. Rows of the same shape form the batches of an "
                  "epoch, in shuffled order; rows that fill no step move to the next larger shape.",
        .defaultValue = "length, if rows have different lengths and are shuffled",
        .group = "Data",
        .choices = {{"length", "each batch has rows of one shape"},
                    {"none", "a batch has the shape of its longest row"}}},
       [](Options &o, const FlagValue &v) { o.groupsRows = v.text == "length"; }},
      {{.name = "last-batch",
        .value = "HOW",
        .summary = "Incomplete last batch of an epoch",
        .detail = "mask uses the smallest shape that holds the samples; it is the default of "
                  "programs with several batch sizes and of --bucket-by length.",
        .defaultValue = "wrap",
        .group = "Data",
        .isCommon = true,
        .choices = {{"wrap", "complete it with samples of the next epoch"},
                    {"drop", "skip its samples"},
                    {"mask", "complete it with samples whose labels are ignored"}}},
       setLastBatch},
      {{.name = "seed",
        .value = "N",
        .summary = "Seed of shuffling and of random operators",
        .defaultValue = "0",
        .group = "Data",
        .isCommon = true},
       [](Options &o, const FlagValue &v) { o.seed = v.number<uint64_t>(0, INT64_MAX); }},
  };
}

} // namespace

std::vector<OptionFlag> dataFlags() {
  std::vector<OptionFlag> flags = valueFlags();
  for (const OptionFlag &flag : sampleFlags())
    flags.push_back(flag);
  return flags;
}

} // namespace mtc::runtime
