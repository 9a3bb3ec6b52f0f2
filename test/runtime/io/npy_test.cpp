// Tests valid and malformed .npy files.
#include "runtime/io/npy.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc::test;
using namespace mtc::runtime;
using testing::HasSubstr;

namespace {

class Npy : public testing::Test {
protected:
  TemporaryFolder folder;

  ArrayOnDisk open(const std::string &bytes) {
    writeFile(folder / "a.npy", bytes);
    return openNpy(folder / "a.npy");
  }
  /// Returns the error for a file, or "".
  std::string refusal(const std::string &bytes) {
    try {
      open(bytes);
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exitCode(), exitUserInput);
      EXPECT_THAT(failure.what(), HasSubstr("a.npy"));
      return failure.what();
    }
    return "";
  }
};

TEST_F(Npy, TypesAndShapes) {
  ArrayOnDisk array = open(npyBytes("<i8", "(2, 3)", std::string(48, 'x')));
  EXPECT_EQ(array.type, MTC_I64);
  EXPECT_EQ(array.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.offset % 64, 0);
  EXPECT_EQ(open(npyBytes("|b1", "(5,)", std::string("\1\0\1\0\1", 5))).type, MTC_BOOL);
  EXPECT_EQ(open(npyBytes("<f2", "()", "ab")).dims, std::vector<int64_t>());
  EXPECT_EQ(open(npyBytes("<f4", "(0, 7)", "")).dims, (std::vector<int64_t>{0, 7}));
  EXPECT_EQ(
      open(npyBytes("", "", "abcd", "{\"shape\": (1L,),'fortran_order':True,\t'descr':'<u4'}"))
          .type,
      MTC_U32);
}

TEST_F(Npy, LaterVersions) {
  std::string one = npyBytes("<f4", "(1,)", "abcd");
  for (char version : {'\2', '\3'}) {
    std::string later =
        one.substr(0, 6) + version + one.substr(7, 3) + std::string(2, '\0') + one.substr(10);
    EXPECT_EQ(open(later).offset, open(one).offset + 2);
  }
  EXPECT_THAT(refusal(one.substr(0, 6) + '\4' + one.substr(7)), HasSubstr("version 4.0"));
}

TEST_F(Npy, WhatIsRefusedSaysTheWayOut) {
  EXPECT_THAT(refusal(npyBytes("|O", "(1,)", "abcdefgh")), HasSubstr("Python objects"));
  EXPECT_THAT(refusal(npyBytes(">f4", "(1,)", "abcd")), HasSubstr("astype('<f4')"));
  EXPECT_THAT(refusal(npyBytes("<c8", "(1,)", "abcdefgh")), HasSubstr("'<c8'"));
  EXPECT_THAT(refusal(npyBytes("<U3", "(1,)", "abcdefghabcd")), HasSubstr("'<U3'"));
  EXPECT_THAT(refusal(npyBytes("", "", std::string(24, 'x'),
                               "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}")),
              HasSubstr("ascontiguousarray"));
  EXPECT_THAT(refusal(npyBytes("", "", "abcd",
                               "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}")),
              HasSubstr("records"));
}

TEST_F(Npy, Broken) {
  std::string good = npyBytes("<f4", "(2,)", "abcdefgh");
  ASSERT_EQ(refusal(good), "");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(refusal(good.substr(0, length)), "") << length << " bytes";
  for (const char *shape : {"(3,)", "(-1,)", "(4611686018427387904, 4)", "(99999999999999999999,)",
                            "(2", "2", "(2,,)", "None", "(1.5,)"})
    EXPECT_NE(refusal(npyBytes("<f4", shape, "abcdefgh")), "") << shape;
  for (const char *dict :
       {"{}", "{'descr': '<f4'}", "[]", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [[[[, 'fortran_order': False, 'shape': (2,)}", "{'other': 1}"})
    EXPECT_NE(refusal(npyBytes("", "", "abcdefgh", dict)), "") << dict;
  EXPECT_THAT(refusal("PK\3\4 a zip archive of arrays"), HasSubstr("not a .npy file"));
}

TEST_F(Npy, NoRegularFile) {
  EXPECT_THROW(openNpy(folder.folder()), Failure);
  EXPECT_THROW(openNpy(folder / "none.npy"), Failure);
}

} // namespace
