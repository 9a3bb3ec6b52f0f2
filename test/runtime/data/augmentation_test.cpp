// Augmentation: lists, resizing, crops, flips, colors, and independence of threads.
#include "runtime/data/augmentation.h"

#include "runtime/data/dataset.h"
#include "runtime/data/images/image_augmenter.h"
#include "runtime/data/images/image_colors.h"
#include "runtime/data/images/image_resize.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::HasSubstr;

namespace {

using Floats = std::vector<float>;

/// An image whose elements are 0, 1, 2, ...
Floats counting(size_t count) {
  Floats values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

Floats apply(const std::string &list, const std::vector<int64_t> &stored,
             const std::vector<int64_t> &wanted, int64_t position, const Floats &image) {
  const ImageAugmenter augmenter(parseAugmentation(list), wanted, 255, "x");
  size_t elements = 1;
  for (int64_t dim : wanted)
    elements *= static_cast<size_t>(dim);
  Floats result(elements, -1);
  ImageBuffers buffers;
  augmenter.apply(image.data(), augmenter.layoutOfStored(stored), {5, position}, buffers,
                  result.data());
  return result;
}

TEST(Augmentation, ListsAreReadBack) {
  const char *everything =
      "resize:256,crop:4,flip,brightness:0.2,contrast:0.5,saturation:1,hue:0.5";
  for (const char *list : {"crop", "crop:4", "flip", "resized-crop:0.25,flip", everything})
    EXPECT_EQ(augmentationText(parseAugmentation(list)), list);
  EXPECT_EQ(flagsOf(Augmentations{{"x", parseAugmentation("flip,crop:0")}}),
            "--augment x=crop,flip");
  EXPECT_EQ(augmentationText(parseAugmentation("resized-crop")), "resized-crop:0.08");
  EXPECT_THAT(problemOf([] { parseAugmentation("crop:2,resized-crop"); }),
              HasSubstr("both crop; expected one of them"));
  EXPECT_THAT(
      problemOf([] { parseAugmentation("rotate"); }),
      HasSubstr("'rotate' is unknown; expected resize:SIDE, crop, crop:PADDING, resized-crop"));
  EXPECT_THAT(problemOf([] { parseAugmentation("resize"); }),
              HasSubstr("resize: expected 1 to 16384 pixels of the shorter side"));
  EXPECT_THAT(problemOf([] { parseAugmentation("hue:0.6"); }),
              HasSubstr("hue: expected a number above 0 and at most 0.5"));
  EXPECT_THAT(problemOf([] { parseAugmentation("crop:-1"); }), HasSubstr("0 to 1024"));
  EXPECT_THAT(problemOf([] { parseAugmentation("flip:2"); }), HasSubstr("'flip:2' is unknown"));
  EXPECT_THAT(problemOf([] { parseAugmentation("brightness:2"); }), HasSubstr("at most 1"));
}

TEST(Augmentation, EvaluationCropsTheCenter) {
  // Rows 1 to 2 and columns 1 to 2 of two channels of 4 x 5. torchvision rounds 1.5 to 2.
  EXPECT_EQ(apply("crop:2,flip,brightness:1", {1, 4, 5}, {1, 2, 2}, -1, counting(20)),
            (Floats{7, 8, 12, 13}));
  EXPECT_EQ(apply("crop", {4, 4, 3}, {2, 2, 3}, -1, counting(48)),
            (Floats{15, 16, 17, 18, 19, 20, 27, 28, 29, 30, 31, 32}));
  EXPECT_EQ(apply("flip", {3, 2}, {3, 2}, -1, counting(6)), counting(6));
}

TEST(Augmentation, RandomCropsAndFlipsCoverAllPositions) {
  std::set<Floats> found;
  for (int64_t position = 0; position < 400; ++position)
    found.insert(apply("crop,flip", {1, 3, 3}, {1, 2, 2}, position, counting(9)));
  EXPECT_EQ(found.size(), 8);
  EXPECT_TRUE(found.contains(Floats{1, 0, 4, 3}));
  EXPECT_TRUE(found.contains(Floats{4, 5, 7, 8}));
  found.clear();
  for (int64_t position = 0; position < 400; ++position)
    found.insert(apply("crop:1", {2, 2}, {2, 2}, position, {1, 2, 3, 4}));
  EXPECT_EQ(found.size(), 9);
  EXPECT_TRUE(found.contains(Floats{0, 0, 0, 1}));
}

TEST(Augmentation, ResizingIsPillows) {
  // Image.fromarray(image).crop(box).resize(size, BILINEAR) of Pillow, for 4 x 5 squares i * i.
  Floats image(20);
  for (size_t i = 0; i < 20; ++i)
    image[i] = static_cast<float>(i * i);
  auto resized = [&](const ImageBox &box, int64_t height, int64_t width) {
    const ImageLayout from = {1, 4, 5, false}, into = {1, height, width, false};
    GrowingBuffer<float> work;
    Floats to(static_cast<size_t>(into.elements()));
    showImage(image.data(), from, {box, height, width, 0, 0}, into, work, to.data());
    return to;
  };
  EXPECT_EQ(resized({0, 0, 4, 5}, 4, 5), image);
  EXPECT_THAT(resized({0, 0, 4, 5}, 2, 3),
              testing::Pointwise(testing::FloatNear(1e-3F), Floats{28.4898F, 43.7302F, 63.5102F,
                                                                   153.082F, 193.016F, 237.49F}));
  EXPECT_THAT(resized({1, 1, 2, 3}, 3, 4),
              testing::Pointwise(testing::FloatNear(1e-3F),
                                 Floats{36, 44.125F, 54.625F, 64, 78.5F, 89.75F, 104, 116.5F, 121,
                                        135.375F, 153.375F, 169}));
}

TEST(Augmentation, ViewsAreWindowsOfTheResizedImage) {
  // A window of a resized image, partly outside of it, has the elements of the whole; so have bytes
  // with adjacent channels.
  const ImageLayout from = {3, 9, 7, true}, whole = {3, 5, 6, true}, window = {3, 4, 4, true};
  std::vector<uint8_t> image(189), all(90), part(48);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<uint8_t>(i * 37);
  GrowingBuffer<uint8_t> work;
  const ImageBox box = {1, 0, 8, 6};
  showImage(image.data(), from, {box, 5, 6, 0, 0}, whole, work, all.data());
  showImage(image.data(), from, {box, 5, 6, -1, 3}, window, work, part.data());
  for (int64_t y = 0; y < 4; ++y)
    for (int64_t x = 0; x < 4; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const bool isInside = y >= 1 && x < 3;
        EXPECT_EQ(part[static_cast<size_t>(window.at(c, y, x))],
                  isInside ? all[static_cast<size_t>(whole.at(c, y - 1, x + 3))] : 0);
      }
}

TEST(Augmentation, TheShorterSideIsResized) {
  // Evaluation: 8 x 4 pixels are resized to 4 x 2, of which rows 1 and 2 are the center.
  Floats image(32);
  for (size_t i = 0; i < 32; ++i)
    image[i] = static_cast<float>(i / 4);
  const Floats center = apply("resize:2", {8, 4}, {2, 2}, -1, image);
  EXPECT_THAT(center, testing::ElementsAre(testing::FloatNear(2.5F, 1e-5F), center[0],
                                           testing::FloatNear(4.5F, 1e-5F), center[2]));
  // A side that does not cover the input is enlarged.
  EXPECT_THAT(apply("resize:1", {3, 3}, {2, 2}, -1, Floats(9, 4)),
              testing::Each(testing::FloatEq(4)));
}

TEST(Augmentation, ResizedCropsKeepConstantImagesAndCoverTheRange) {
  EXPECT_THAT(apply("resized-crop,flip", {3, 9, 7}, {3, 4, 5}, 3, Floats(189, 7)),
              testing::Each(testing::FloatEq(7)));
  float minimum = 1e9F, maximum = 0;
  std::set<Floats> found;
  for (int64_t position = 0; position < 300; ++position) {
    const Floats image = apply("resized-crop:0.2", {1, 8, 8}, {1, 4, 4}, position, counting(64));
    found.insert(image);
    minimum = std::min(minimum, image.front());
    maximum = std::max(maximum, image.back());
  }
  EXPECT_GT(found.size(), 100U);
  EXPECT_LT(minimum, 5);
  EXPECT_GT(maximum, 58);
  // A flat image has no part of a ratio up to 4/3 with nearly its area: the center is taken.
  const Floats wide = apply("resized-crop:1", {1, 4, 40}, {1, 4, 4}, 0, counting(160));
  EXPECT_NEAR(wide[0], 17.625, 0.51);
}

TEST(Augmentation, ColorsAreThoseOfColorJitter) {
  const Floats image = {10, 200, 30, 90, 60, 70, 250, 0, 5, 5, 5, 5}; // three channels of 1 x 4
  const Floats bright = apply("brightness:0.5", {3, 1, 4}, {3, 1, 4}, 3, image);
  const float factor = bright[0] / 10;
  EXPECT_TRUE(factor >= 0.5F && factor < 1.5F);
  for (size_t i = 0; i < image.size(); ++i)
    EXPECT_FLOAT_EQ(bright[i], std::min(255.0F, factor * image[i]));
  // A gray image has no saturation to change, and contrast keeps its mean.
  const Floats gray = {10, 20, 30, 40, 10, 20, 30, 40, 10, 20, 30, 40};
  const Floats saturated = apply("saturation:1", {3, 1, 4}, {3, 1, 4}, 3, gray);
  for (size_t i = 0; i < gray.size(); ++i)
    EXPECT_NEAR(saturated[i], gray[i], 0.01); // the weights of gray add up to 0.9999
  const Floats contrast = apply("contrast:0.5", {3, 1, 4}, {3, 1, 4}, 3, gray);
  EXPECT_NEAR(contrast[0] + contrast[3], 50, 0.02);
  EXPECT_GT(std::abs(contrast[3] - 40), 0.01);
  // Channels may be the last axis.
  Floats last, expected = apply("brightness:0.3,contrast:0.3,saturation:0.3", {3, 1, 4}, {3, 1, 4},
                                9, image);
  for (size_t pixel = 0; pixel < 4; ++pixel)
    for (size_t c = 0; c < 3; ++c)
      last.push_back(image[c * 4 + pixel]);
  const Floats found =
      apply("brightness:0.3,contrast:0.3,saturation:0.3", {4, 2, 3}, {4, 2, 3}, 9, [&] {
        Floats twice = last;
        twice.insert(twice.end(), last.begin(), last.end());
        return twice;
      }());
  for (size_t pixel = 0; pixel < 4; ++pixel)
    for (size_t c = 0; c < 3; ++c)
      EXPECT_FLOAT_EQ(found[pixel * 3 + c], expected[c * 4 + pixel]);
}

TEST(Augmentation, HuesAreThoseOfTorchvision) {
  // torchvision.transforms.functional.adjust_hue of the image / 255, times 255.
  const Floats image = {10, 200, 30, 90, 60, 70, 250, 0, 5, 5, 5, 5}; // three channels of 1 x 4
  for (const auto &[turns, expected] :
       {std::pair{0.1F, Floats{5, 200, 5, 90, 60, 187, 250, 49, 33, 5, 127, 0}},
        std::pair{-0.3F, Floats{60, 109, 250, 13, 11, 5, 29, 0, 5, 200, 5, 90}},
        std::pair{0.5F, Floats{55, 5, 225, 0, 5, 135, 5, 90, 60, 200, 250, 85}}}) {
    Floats found = image;
    changeColors({.brightness = {}, .contrast = {}, .saturation = {}, .hue = turns},
                 {3, 1, 4, false}, 255, found.data());
    EXPECT_THAT(found, testing::Pointwise(testing::FloatNear(2e-3F), expected)) << turns;
  }
  const Floats gray = {7, 9, 7, 9, 7, 9};
  EXPECT_EQ(apply("hue:0.5", {3, 1, 2}, {3, 1, 2}, 3, gray), gray);
}

TEST(Augmentation, ShapesThatDoNotFit) {
  auto problem = [](const std::string &list, const std::vector<int64_t> &stored,
                    const std::vector<int64_t> &wanted) {
    return problemOf(
        [&] { ImageAugmenter(parseAugmentation(list), wanted, 255, "x").layoutOfStored(stored); });
  };
  EXPECT_THAT(problem("flip", {3, 9, 9}, {3, 8, 8}), HasSubstr("expected --augment x=crop"));
  EXPECT_THAT(problem("crop", {3, 7, 9}, {3, 8, 8}), HasSubstr("images of at least its size"));
  EXPECT_THAT(problem("crop", {1, 9, 9}, {3, 8, 8}), HasSubstr("expected equal channels"));
  EXPECT_THAT(problem("crop", {64}, {64}), HasSubstr("expected an image of 1 or 3 channels"));
  EXPECT_THAT(problem("saturation:0.1", {1, 8, 8}, {1, 8, 8}), HasSubstr("expected three"));
}

TEST(Augmentation, BatchesDoNotDependOnThreads) {
  const TemporaryFolder folder;
  constexpr int64_t rows = 40;
  int64_t dims[4] = {8, 3, 6, 6};
  std::vector<float> arena(8 * 3 * 6 * 6);
  MtcInput input = {{"x", MTC_F32, 4, dims, 0, static_cast<int64_t>(arena.size() * 4), MTC_DEVICE},
                    0,
                    0,
                    0,
                    0,
                    -1,
                    0,
                    0,
                    0,
                    ""};
  MtcProgram program{};
  program.loss = "mse";
  program.batch = 8;
  program.accumulation.micro_steps = 1;
  program.input_count = 1;
  program.inputs = &input;
  std::vector<uint8_t> pixels(rows * 3 * 8 * 8);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(i * 7);
  writeFile(folder / "x.npy", npyBytes("|u1", "(40, 3, 8, 8)", bytesOf(pixels)));
  DataTransforms transforms;
  transforms.normalizations["x"].scale = parseScale("1/255");
  transforms.augmentations["x"] = parseAugmentation("crop:1,flip,contrast:0.4");
  std::vector<Floats> all;
  for (const auto &[threads, seed] : {std::pair{1, 0}, {3, 0}, {3, 1}}) {
    transforms.readThreads = threads;
    transforms.seed = static_cast<uint64_t>(seed);
    Dataset data(program, {{"x", folder / "x.npy"}}, false, "--data", transforms);
    EXPECT_EQ(data.rows(), rows);
    for (int64_t position : {16, 56}) {
      data.load({{5, 1, 39, 7, 7, 0, 3, 2}, 0, position}, {reinterpret_cast<char *>(arena.data())});
      all.push_back(arena);
    }
  }
  EXPECT_EQ(all[0], all[2]);
  EXPECT_EQ(all[1], all[3]);
  EXPECT_NE(all[0], all[1]); // another epoch
  EXPECT_NE(all[2], all[4]); // another seed
  EXPECT_THAT(problemOf([&] { Dataset data(program, {{"x", folder / "x.npy"}}, false); }),
              HasSubstr("has shape [40, 3, 8, 8]"));
}

TEST(ReadWorkers, FailuresAreThoseOfTheFirstItem) {
  ReadWorkers workers(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> done(64);
    EXPECT_THAT(problemOf([&] {
                  workers.run(64, [&](int64_t i, int worker) {
                    EXPECT_TRUE(worker >= 0 && worker < 4);
                    done[static_cast<size_t>(i)] = 1;
                    if (i % 10 == 7)
                      userError("item ", i);
                  });
                }),
                HasSubstr("item 7"));
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 64);
  }
}

} // namespace
