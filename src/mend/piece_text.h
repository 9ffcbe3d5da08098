// Text made of copied and added pieces. In: spans of the original, new text. Out: the text, and where it came from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mend/mend.h"

namespace graphmend {

class PieceText {
 public:
  explicit PieceText(std::string_view original) : original_(original) {}

  void copy(Span span) {
    if (span.size() == 0) return;
    const auto start = static_cast<uint32_t>(text_.size());
    text_ += span.in(original_);
    pieces_.push_back({start, static_cast<uint32_t>(text_.size()), span, true});
  }

  // A part of a condition that is computed.
  void copy_computed(Span span) {
    if (span.size() == 0) return;
    copy(span);
    pieces_.back().computed = true;
  }

  // `serves` is the place that tracebacks show for what is added.
  void add(std::string_view added, Span serves) {
    if (added.empty()) return;
    const auto start = static_cast<uint32_t>(text_.size());
    text_ += added;
    pieces_.push_back({start, static_cast<uint32_t>(text_.size()), serves, false});
  }

  void append(const PieceText& other) {
    const auto shift = static_cast<uint32_t>(text_.size());
    text_ += other.text_;
    for (Piece piece : other.pieces_) {
      piece.start += shift;
      piece.end += shift;
      pieces_.push_back(piece);
    }
  }

  std::string_view original() const { return original_; }
  const std::string& text() const { return text_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::string take_text() { return std::move(text_); }
  std::vector<Piece> take_pieces() { return std::move(pieces_); }

 private:
  std::string_view original_;
  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace graphmend
