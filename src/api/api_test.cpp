// Tests of the C API: what it gives, what it refuses.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "api/graphmend.h"

namespace {

constexpr uint32_t kEverything = 127;

struct Read {
  const graphmend_result* result = nullptr;
  int32_t status;

  explicit Read(std::string_view bytes, uint32_t wanted = kEverything, uint32_t minor = 0, uint32_t flags = 0) {
    const graphmend_options options = {sizeof(graphmend_options), wanted, minor, flags};
    status = graphmend_read(bytes.data(), bytes.size(), &options, &result);
  }
  ~Read() { graphmend_result_free(result); }
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;
};

TEST(Api, version) {
  EXPECT_EQ(graphmend_api_version(), uint32_t{GRAPHMEND_API_VERSION});
  EXPECT_GT(std::strlen(graphmend_release()), 0u);
}

TEST(Api, everything_asked_for_is_there) {
  const Read read("x = 1\n");
  ASSERT_EQ(read.status, GRAPHMEND_OK);
  const graphmend_result& result = *read.result;
  EXPECT_EQ(std::string_view(result.text, result.text_length), "x = 1\n");
  EXPECT_EQ(std::string_view(result.encoding, result.encoding_length), "utf-8");
  EXPECT_EQ(result.error_count, 0u);
  ASSERT_EQ(result.line_count, 2u);
  EXPECT_EQ(result.line_starts[1], 6u);
  ASSERT_GT(result.token_count, 3u);
  EXPECT_STREQ(graphmend_token_kind(result.tokens[0].kind), "Name");
  ASSERT_EQ(result.node_count, 4u);
  EXPECT_STREQ(graphmend_node_kind(result.nodes[0].kind), "Module");
  EXPECT_EQ(result.nodes[0].size, 4u);
  EXPECT_EQ(result.parents[0], 0xFFFFFFFFu);
  EXPECT_EQ(result.parents[1], 0u);
  EXPECT_GT(result.tokens_dump_length, 0u);
  EXPECT_GT(result.tree_dump_length, 0u);
  EXPECT_TRUE(std::string_view(result.ast_dump, result.ast_dump_length).starts_with("Module(body=[Assign("));
}

TEST(Api, what_was_not_asked_for_is_not) {
  const Read read("x = )\n", 0);
  ASSERT_EQ(read.status, GRAPHMEND_OK);
  const graphmend_result& result = *read.result;
  EXPECT_GE(result.error_count, 1u);
  EXPECT_EQ(result.errors, nullptr);
  EXPECT_EQ(result.text, nullptr);
  EXPECT_EQ(result.tokens, nullptr);
  EXPECT_EQ(result.nodes, nullptr);
  EXPECT_EQ(result.ast_dump, nullptr);
}

TEST(Api, errors_have_places_and_messages) {
  const Read read("é = 1\nx = 'é' )\n");
  ASSERT_EQ(read.status, GRAPHMEND_OK);
  const graphmend_result& result = *read.result;
  ASSERT_EQ(result.error_count, 1u);
  const graphmend_error& error = result.errors[0];
  EXPECT_EQ(error.line, 2u);
  EXPECT_EQ(error.column, 9u);
  EXPECT_EQ(error.end_column, 10u);
  EXPECT_EQ(result.text[error.start], ')');
  EXPECT_GT(error.message_length, 0u);
  EXPECT_EQ(error.message_start + error.message_length, result.messages_length);
  EXPECT_EQ(result.ast_dump, nullptr);
  EXPECT_NE(result.tree_dump, nullptr);
}

TEST(Api, bad_requests_are_refused) {
  const graphmend_result* result = nullptr;
  const graphmend_options good = {sizeof(graphmend_options), kEverything, 0, 0};
  EXPECT_EQ(graphmend_read("x", 1, nullptr, &result), GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(graphmend_read("x", 1, &good, nullptr), GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(graphmend_read(nullptr, 1, &good, &result), GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(graphmend_read("x", uint64_t{1} << 31, &good, &result), GRAPHMEND_TOO_LARGE);
  const graphmend_options small = {4, kEverything, 0, 0};
  EXPECT_EQ(graphmend_read("x", 1, &small, &result), GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(Read("x", 1U << 20).status, GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(Read("x", 1, 7).status, GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(Read("x", 1, 16).status, GRAPHMEND_BAD_REQUEST);
  EXPECT_EQ(Read("x", 1, 8, 2).status, GRAPHMEND_BAD_REQUEST);
  graphmend_result_free(nullptr);
}

TEST(Api, nothing_is_a_source_too) {
  const graphmend_result* result = nullptr;
  const graphmend_options options = {sizeof(graphmend_options), kEverything, 0, 0};
  ASSERT_EQ(graphmend_read(nullptr, 0, &options, &result), GRAPHMEND_OK);
  EXPECT_EQ(result->error_count, 0u);
  EXPECT_EQ(result->node_count, 1u);
  graphmend_result_free(result);
}

TEST(Api, text_has_no_cookie) {
  EXPECT_GT(Read("# coding: nonsense\n").result->error_count, 0u);
  EXPECT_EQ(Read("# coding: nonsense\n", kEverything, 0, GRAPHMEND_IS_TEXT).result->error_count, 0u);
}

TEST(Api, lists_of_names_end) {
  uint32_t kinds = 0;
  while (graphmend_node_kind(kinds) != nullptr) ++kinds;
  EXPECT_GT(kinds, 50u);
  EXPECT_EQ(graphmend_token_kind(0xFFFFFFFF), nullptr);
  for (int32_t status = -1; status < 7; ++status) EXPECT_NE(graphmend_status_text(status), nullptr);
}

}  // namespace
