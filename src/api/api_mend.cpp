// Mending through the C API. In: bytes and a request. Out: one run of flat bytes, as the header describes it.
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "api/graphmend.h"
#include "driver/front_end.h"
#include "mend/mend.h"
#include "source/source.h"

namespace graphmend {
namespace {

class FlatWriter {
 public:
  void number(uint64_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xFF);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void pieces(const std::vector<Piece>& all) {
    number(all.size());
    for (const Piece& piece : all) {
      number(piece.start);
      number(piece.end);
      number(piece.original.start);
      number(piece.original.end);
      number(piece.copied ? 1 : 0);
    }
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

std::string flatten(const Mended& mended) {
  FlatWriter writer;
  writer.number(0);
  writer.text(mended.text);
  writer.pieces(mended.pieces);
  writer.number(mended.mends.size());
  for (const Mend& mend : mended.mends) {
    writer.number(static_cast<uint64_t>(mend.kind));
    writer.number(mend.line);
    writer.number(mend.statement.start);
    writer.number(mend.statement.end);
    writer.text(mend.site);
    writer.text(mend.outlined.text);
    writer.pieces(mend.outlined.pieces);
    writer.text(mend.outlined.class_name);
    writer.number(mend.like);
  }
  writer.number(mended.declined.size());
  for (const Declined& declined : mended.declined) {
    writer.number(declined.line);
    writer.text(declined.reason);
  }
  return writer.take();
}

struct Flat : graphmend_flat {
  std::string kept;
};

std::vector<std::string> split_at_nul(const char* joined, uint64_t length) {
  std::vector<std::string> parts;
  std::string_view rest(joined, static_cast<size_t>(length));
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parts;
}

std::string mend_to_flat(std::string bytes, const graphmend_mend_request& asked) {
  MendRequest request;
  request.file_name.assign(asked.file_name, static_cast<size_t>(asked.file_name_length));
  request.lines.assign(asked.lines, asked.lines + asked.line_count);
  request.functions.assign(asked.functions, asked.functions + asked.function_count);
  request.ahead = asked.ahead != 0;
  request.speculates = asked.speculates != 0;
  request.talkers = split_at_nul(asked.talkers, asked.talkers_length);
  request.substitutes = split_at_nul(asked.substitutes, asked.substitutes_length);
  const FrontEnd front = read_python(std::move(bytes));
  if (!front.ok()) {
    FlatWriter writer;
    writer.number(1);
    return writer.take();
  }
  return flatten(mend(front.source.text, front.tokens, front.tree, request));
}

bool is_sound(const graphmend_mend_request& request) {
  return request.struct_size == sizeof(graphmend_mend_request) &&
         (request.lines != nullptr || request.line_count == 0) &&
         (request.functions != nullptr || request.function_count == 0) && request.file_name != nullptr &&
         (request.talkers != nullptr || request.talkers_length == 0) &&
         (request.substitutes != nullptr || request.substitutes_length == 0);
}

}  // namespace
}  // namespace graphmend

int32_t graphmend_mend(const char* bytes, uint64_t length, const graphmend_mend_request* request,
                       const graphmend_flat** result) {
  if (result == nullptr) return GRAPHMEND_BAD_REQUEST;
  *result = nullptr;
  if ((bytes == nullptr && length > 0) || request == nullptr || !graphmend::is_sound(*request)) {
    return GRAPHMEND_BAD_REQUEST;
  }
  if (length > graphmend::kMaxSourceBytes) return GRAPHMEND_TOO_LARGE;
  try {
    auto flat = std::make_unique<graphmend::Flat>();
    flat->kept = graphmend::mend_to_flat(std::string(bytes, static_cast<size_t>(length)), *request);
    flat->data = flat->kept.data();
    flat->length = flat->kept.size();
    *result = flat.release();
    return GRAPHMEND_OK;
  } catch (const std::bad_alloc&) {
    return GRAPHMEND_OUT_OF_MEMORY;
  } catch (...) {
    return GRAPHMEND_INTERNAL_ERROR;
  }
}

void graphmend_flat_free(const graphmend_flat* result) { delete static_cast<const graphmend::Flat*>(result); }
