// Diagnostics as text. In: a diagnostic, its text and the path to name. Out: what a person reads.
// A long line is cut around the column that matters, so a report stays readable for a minified or binary file.
#include "diag/render.h"

#include <algorithm>

#include "diag/characters.h"

namespace graphmend {
namespace {

// Columns of source that a snippet shows at most, and how many of them may stand before the range when it is cut.
constexpr unsigned kSnippetColumns = 120;
constexpr unsigned kColumnsBefore = 60;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kBoldRed = "\x1b[1;31m";
constexpr std::string_view kBlue = "\x1b[34m";
constexpr std::string_view kPlain = "\x1b[0m";

bool fits(std::string_view line) {
  // Four bytes a character at most: longer lines need no walk to know.
  if (line.size() > size_t{4} * kSnippetColumns) return false;
  unsigned columns = 0;
  for (size_t offset = 0; offset < line.size();) {
    const Character character = character_at(line, offset);
    columns += visible_width(character);
    offset += character.size;
  }
  return columns <= kSnippetColumns;
}

// Where to begin so that at most kColumnsBefore columns stand before `start`.
size_t cut_before(std::string_view line, size_t start) {
  unsigned columns = 0;
  while (start > 0) {
    const size_t before = character_before(line, start);
    columns += visible_width(character_at(line, before));
    if (columns > kColumnsBefore) break;
    start = before;
  }
  return start;
}

struct Snippet {
  std::string source;
  std::string carets;
};

// `start` and `end` are bytes from the beginning of the line; both may lie at its end.
Snippet make_snippet(std::string_view line, size_t start, size_t end) {
  Snippet snippet;
  size_t offset = fits(line) ? 0 : cut_before(line, start);
  unsigned columns = 0;
  if (offset > 0) {
    snippet.source += "…";
    snippet.carets += ' ';
    ++columns;
  }
  while (offset < line.size()) {
    const Character character = character_at(line, offset);
    const unsigned width = visible_width(character);
    // A character without a width of its own can follow for ever: bytes are bounded too.
    if (columns + width > kSnippetColumns || snippet.source.size() > size_t{8} * kSnippetColumns) {
      snippet.source += "…";
      break;
    }
    append_visible(snippet.source, line, offset, character);
    if (offset < end) snippet.carets.append(width, offset < start ? ' ' : '^');
    columns += width;
    offset += character.size;
  }
  if (snippet.carets.empty() || snippet.carets.back() != '^') snippet.carets += '^';
  return snippet;
}

void append_snippet(std::string& out, const Locator& locator, Span span, uint32_t number, bool colour) {
  const std::string_view line = locator.line(number);
  const uint32_t line_start = locator.line_start(number);
  const size_t start = std::min<size_t>(span.start - std::min(span.start, line_start), line.size());
  const size_t end = std::clamp<size_t>(span.end - std::min(span.end, line_start), start, line.size());
  const Snippet snippet = make_snippet(line, start, std::max(end, start));

  std::string gutter = std::to_string(number);
  if (gutter.size() < 5) gutter.insert(0, 5 - gutter.size(), ' ');
  const std::string_view gutter_on = colour ? kBlue : "";
  const std::string_view carets_on = colour ? kBoldRed : "";
  const std::string_view off = colour ? kPlain : "";
  out.append(gutter_on).append(gutter).append(" |").append(off);
  if (!snippet.source.empty()) out.append(" ").append(snippet.source);
  out += '\n';
  out.append(gutter_on).append(gutter.size(), ' ').append(" |").append(off).append(" ");
  out.append(carets_on).append(snippet.carets).append(off).append("\n");
}

}  // namespace

void render_diagnostic(std::string& out, const Diagnostic& diagnostic, std::string_view path, Locator& locator,
                       RenderStyle style) {
  const PlaceRange range = locator.locate(diagnostic.span);
  if (style.colour) out += kBold;
  out += path;
  out.append(":").append(std::to_string(range.start.line));
  out.append(":").append(std::to_string(range.start.column)).append(": ");
  if (style.colour) out.append(kPlain).append(kBoldRed);
  out += "error: ";
  if (style.colour) out += kPlain;
  out.append(visible(diagnostic.message)).append("\n");
  if (style.snippet) append_snippet(out, locator, diagnostic.span, range.start.line, style.colour);
}

}  // namespace graphmend
