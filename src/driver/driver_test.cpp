// Tests of the driver: work in order, the front end as a whole.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/find_files.h"
#include "driver/front_end.h"
#include "driver/in_order.h"
#include "driver/read_file.h"

namespace graphmend {
namespace {

TEST(RunInOrder, takes_every_result_in_order) {
  for (const unsigned jobs : {1u, 2u, 7u, 100u}) {
    std::vector<size_t> taken;
    run_in_order(
        1000, jobs, [](size_t index) { return index * index; },
        [&](size_t index, size_t result) {
          EXPECT_EQ(result, index * index);
          taken.push_back(index);
          return true;
        });
    ASSERT_EQ(taken.size(), 1000u);
    for (size_t index = 0; index < taken.size(); ++index) EXPECT_EQ(taken[index], index);
  }
}

TEST(RunInOrder, stops_when_told) {
  for (const unsigned jobs : {1u, 4u}) {
    std::atomic<size_t> done = 0;
    size_t taken = 0;
    run_in_order(
        1'000'000, jobs, [&](size_t index) { return done.fetch_add(1) + index; },
        [&](size_t, size_t) { return ++taken < 10; });
    EXPECT_EQ(taken, 10u);
    // Only what fits into the window was begun.
    EXPECT_LT(done, 1000u);
  }
}

TEST(RunInOrder, does_not_run_ahead) {
  std::atomic<size_t> begun = 0;
  run_in_order(
      500, 4, [&](size_t index) { return ++begun, index; },
      [&](size_t index, size_t) {
        EXPECT_LE(begun, index + 4 * 8 + 1);
        return true;
      });
}

TEST(RunInOrder, leaves_no_thread_behind_when_the_taker_throws) {
  const auto run = [] {
    run_in_order(
        100, 4, [](size_t index) { return index; }, [](size_t, size_t) -> bool { throw std::runtime_error("no"); });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

TEST(RunInOrder, has_nothing_to_do) {
  run_in_order(0, 4, [](size_t index) { return index; }, [](size_t, size_t) { return true; });
}

TEST(FrontEnd, errors_are_sorted_and_one_for_each_place) {
  const FrontEnd front = read_python("x = )\ny = $\nz = ]\n");
  ASSERT_GE(front.errors.size(), 3u);
  for (size_t i = 1; i < front.errors.size(); ++i) {
    EXPECT_LT(front.errors[i - 1].span.start, front.errors[i].span.start);
  }
}

TEST(FrontEnd, undecodable_source_has_no_other_errors) {
  const FrontEnd front = read_python("x = )\ny = '\xFF'\n");
  ASSERT_EQ(front.errors.size(), 1u);
  EXPECT_EQ(front.errors[0].span.start, 11u);
  EXPECT_GT(front.tree.size(), 1u);
}

TEST(FrontEnd, cookies_mean_nothing_in_text) {
  EXPECT_FALSE(read_python("# coding: nonsense\n").ok());
  EXPECT_TRUE(read_python_text("# coding: nonsense\n").ok());
  EXPECT_FALSE(read_python_text(std::string("x\0", 2)).ok());
  EXPECT_FALSE(read_python_text("'\xFF'").ok());
}

TEST(ReadFile, says_why_not) {
  EXPECT_EQ(read_file("/no/such/file").error, "no such file or directory");
  EXPECT_EQ(read_file("/").error, "is a directory");
  EXPECT_EQ(read_file(std::string("a\0b", 3)).error, "the path has a NUL byte in it");
  EXPECT_EQ(read_file("/dev/null").error, "");
}

TEST(FindFiles, keeps_the_order_of_the_arguments) {
  const FoundFiles found = find_files({"/no/such", "-", "/dev/null", "-"});
  EXPECT_EQ(found.paths, (std::vector<std::string>{"-", "/dev/null"}));
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_EQ(found.problems[0].path, "/no/such");
}

TEST(FindFiles, knows_folders_to_skip) {
  for (const char* name : {".git", ".venv", "__pycache__", "node_modules", "build"})
    EXPECT_TRUE(is_skipped_folder(name));
  for (const char* name : {"src", "builder", "venvs", "_"}) EXPECT_FALSE(is_skipped_folder(name));
}

}  // namespace
}  // namespace graphmend
