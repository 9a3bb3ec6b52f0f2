// Tests the effects of signals on a process.
#include "runtime/loop/stop_signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace {

TEST(StopSignal, ASecondOneEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL); // even if the test's parent ignores signals
        std::signal(SIGTERM, SIG_DFL);
        mtc::runtime::StopSignal signal;
        raise(SIGTERM);
        if (!mtc::runtime::StopSignal::received())
          std::exit(1);
        raise(SIGINT);
        std::exit(2);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignal, WhatTheParentIgnoresStaysIgnored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN); // as nohup does
        std::signal(SIGTERM, SIG_DFL);
        mtc::runtime::StopSignal signal;
        raise(SIGHUP);
        const bool received = mtc::runtime::StopSignal::received();
        raise(SIGTERM);
        raise(SIGHUP);
        std::exit(received ? 1 : 7);
      },
      testing::ExitedWithCode(7), "");
}

} // namespace
