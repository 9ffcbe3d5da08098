// The C API. In: bytes and options. Out: one result whose arrays are those of the front end, not copies.
// Nothing leaves these functions but a status: exceptions end here.
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/graphmend.h"
#include "base/version.h"
#include "diag/locate.h"
#include "driver/front_end.h"
#include "facts/dump_scopes.h"
#include "facts/scopes.h"
#include "lex/dump_tokens.h"
#include "parse/dump_ast.h"
#include "parse/dump_tree.h"
#include "source/line_index.h"
#include "source/source.h"

namespace graphmend {
namespace {

// The structs of the header are our own, under other names.
static_assert(sizeof(graphmend_token) == sizeof(Token) && offsetof(graphmend_token, end) == offsetof(Token, end) &&
                  offsetof(graphmend_token, kind) == offsetof(Token, kind) &&
                  offsetof(graphmend_token, flags) == offsetof(Token, flags) &&
                  offsetof(graphmend_token, prefix_length) == offsetof(Token, prefix_length),
              "tokens are handed out as they are");
static_assert(sizeof(graphmend_node) == sizeof(Node) && offsetof(graphmend_node, op) == offsetof(Node, op) &&
                  offsetof(graphmend_node, flags) == offsetof(Node, flags) &&
                  offsetof(graphmend_node, optional) == offsetof(Node, optional) &&
                  offsetof(graphmend_node, first_token) == offsetof(Node, first_token) &&
                  offsetof(graphmend_node, last_token) == offsetof(Node, last_token) &&
                  offsetof(graphmend_node, size) == offsetof(Node, size),
              "nodes are handed out as they are");
static_assert(sizeof(graphmend_error) == 32 && sizeof(graphmend_options) == 16, "callers read these as flat bytes");

constexpr uint32_t kAllWants = GRAPHMEND_WANT_ERRORS | GRAPHMEND_WANT_TEXT | GRAPHMEND_WANT_TOKENS |
                               GRAPHMEND_WANT_TREE | GRAPHMEND_WANT_TOKENS_DUMP | GRAPHMEND_WANT_TREE_DUMP |
                               GRAPHMEND_WANT_AST_DUMP | GRAPHMEND_WANT_SCOPES_DUMP;

constexpr const char* kTokenKinds[] = {
#define TOKEN(name, text) #name,
#include "lex/token_kinds.def"
};

constexpr const char* kNodeKinds[] = {
#define NODE(name, group, children) #name,
#include "parse/node_kinds.def"
};

// The public struct and what it points into.
struct Result : graphmend_result {
  FrontEnd front;
  std::vector<uint32_t> line_starts_kept;
  std::vector<graphmend_error> errors_kept;
  std::string messages_kept;
  std::vector<uint32_t> parents_kept;
  std::string tokens_dump_kept;
  std::string tree_dump_kept;
  std::string ast_dump_kept;
  std::string scopes_dump_kept;
};

void fill_text(Result& result) {
  const std::string& source = result.front.source.text;
  result.text = source.c_str();
  result.text_length = source.size();
  const LineIndex lines(source);
  result.line_starts_kept.reserve(lines.line_count());
  for (uint32_t line = 1; line <= lines.line_count(); ++line) {
    result.line_starts_kept.push_back(lines.line_start(line));
  }
  result.line_starts = result.line_starts_kept.data();
  result.line_count = result.line_starts_kept.size();
}

void fill_errors(Result& result) {
  const Diagnostics& errors = result.front.errors;
  if (!errors.empty()) {
    Locator locator(result.front.source.text);
    result.errors_kept.reserve(errors.size());
    for (const Diagnostic& error : errors) {
      const PlaceRange range = locator.locate(error.span);
      result.errors_kept.push_back(
          {error.span.start, error.span.end, range.start.line, range.start.column, range.end.line, range.end.column,
           static_cast<uint32_t>(result.messages_kept.size()), static_cast<uint32_t>(error.message.size())});
      result.messages_kept += error.message;
    }
  }
  result.errors = result.errors_kept.data();
  result.messages = result.messages_kept.c_str();
  result.messages_length = result.messages_kept.size();
}

void fill_tokens(Result& result) {
  result.tokens = reinterpret_cast<const graphmend_token*>(result.front.tokens.all.data());
  result.token_count = result.front.tokens.all.size();
}

void fill_tree(Result& result) {
  const Tree& tree = result.front.tree;
  result.parents_kept.reserve(tree.size());
  for (NodeId id = Tree::root(); id.index < tree.size(); ++id) result.parents_kept.push_back(tree.parent(id).index);
  result.nodes = reinterpret_cast<const graphmend_node*>(tree.nodes().data());
  result.parents = result.parents_kept.data();
  result.node_count = tree.size();
}

void fill_dumps(Result& result, uint32_t wanted, Version target) {
  const FrontEnd& front = result.front;
  const std::string& text = front.source.text;
  if (wanted & GRAPHMEND_WANT_TOKENS_DUMP) {
    result.tokens_dump_kept = dump_tokens(text, front.tokens);
    result.tokens_dump = result.tokens_dump_kept.c_str();
    result.tokens_dump_length = result.tokens_dump_kept.size();
  }
  if (wanted & GRAPHMEND_WANT_TREE_DUMP) {
    result.tree_dump_kept = dump_tree(text, front.tokens, front.tree);
    result.tree_dump = result.tree_dump_kept.c_str();
    result.tree_dump_length = result.tree_dump_kept.size();
  }
  if ((wanted & GRAPHMEND_WANT_AST_DUMP) && front.ok()) {
    result.ast_dump_kept = dump_ast(text, front.tokens, front.tree);
    result.ast_dump = result.ast_dump_kept.c_str();
    result.ast_dump_length = result.ast_dump_kept.size();
  }
  if ((wanted & GRAPHMEND_WANT_SCOPES_DUMP) && front.ok()) {
    const Scopes scopes = compute_scopes(text, front.tokens, front.tree, target);
    result.scopes_dump_kept = dump_scopes(text, front.tokens, front.tree, scopes);
    result.scopes_dump = result.scopes_dump_kept.c_str();
    result.scopes_dump_length = result.scopes_dump_kept.size();
  }
}

std::unique_ptr<Result> make_result(std::string bytes, const graphmend_options& options) {
  // Value-initialised: every pointer NULL, every count 0.
  auto result = std::make_unique<Result>();
  const Version target = options.target_minor == 0 ? kAnyVersion : Version{static_cast<uint8_t>(options.target_minor)};
  const bool is_text = (options.flags & GRAPHMEND_IS_TEXT) != 0;
  result->front = is_text ? read_python_text(std::move(bytes), target) : read_python(std::move(bytes), target);
  result->encoding = result->front.source.encoding.c_str();
  result->encoding_length = result->front.source.encoding.size();
  result->error_count = result->front.errors.size();
  if (options.wanted & GRAPHMEND_WANT_TEXT) fill_text(*result);
  if (options.wanted & GRAPHMEND_WANT_ERRORS) fill_errors(*result);
  if (options.wanted & GRAPHMEND_WANT_TOKENS) fill_tokens(*result);
  if (options.wanted & GRAPHMEND_WANT_TREE) fill_tree(*result);
  fill_dumps(*result, options.wanted, target);
  return result;
}

bool is_sound(const graphmend_options& options) {
  const uint32_t minor = options.target_minor;
  return options.struct_size == sizeof(graphmend_options) && (options.wanted & ~kAllWants) == 0 &&
         (options.flags & ~uint32_t{GRAPHMEND_IS_TEXT}) == 0 &&
         (minor == 0 || (minor >= kOldestVersion.minor && minor <= kNewestVersion.minor));
}

}  // namespace
}  // namespace graphmend

extern "C" {

uint32_t graphmend_api_version(void) { return GRAPHMEND_API_VERSION; }

const char* graphmend_release(void) { return GRAPHMEND_VERSION; }

int32_t graphmend_read(const char* bytes, uint64_t length, const graphmend_options* options,
                       const graphmend_result** result) {
  if (result == nullptr) return GRAPHMEND_BAD_REQUEST;
  *result = nullptr;
  if ((bytes == nullptr && length > 0) || options == nullptr || !graphmend::is_sound(*options)) {
    return GRAPHMEND_BAD_REQUEST;
  }
  if (length > graphmend::kMaxSourceBytes) return GRAPHMEND_TOO_LARGE;
  try {
    std::string copy;
    if (length > 0) copy.assign(bytes, static_cast<size_t>(length));
    *result = graphmend::make_result(std::move(copy), *options).release();
    return GRAPHMEND_OK;
  } catch (const std::bad_alloc&) {
    return GRAPHMEND_OUT_OF_MEMORY;
  } catch (...) {
    return GRAPHMEND_INTERNAL_ERROR;
  }
}

void graphmend_result_free(const graphmend_result* result) { delete static_cast<const graphmend::Result*>(result); }

const char* graphmend_status_text(int32_t status) {
  switch (status) {
    case GRAPHMEND_OK:
      return "no error";
    case GRAPHMEND_BAD_REQUEST:
      return "the request is malformed";
    case GRAPHMEND_OUT_OF_MEMORY:
      return "not enough memory";
    case GRAPHMEND_TOO_LARGE:
      return "the source is larger than 2147483647 bytes";
    case GRAPHMEND_INTERNAL_ERROR:
      return "internal error";
    default:
      return "unknown status";
  }
}

const char* graphmend_token_kind(uint32_t kind) {
  return kind < std::size(graphmend::kTokenKinds) ? graphmend::kTokenKinds[kind] : nullptr;
}

const char* graphmend_node_kind(uint32_t kind) {
  return kind < std::size(graphmend::kNodeKinds) ? graphmend::kNodeKinds[kind] : nullptr;
}
}
