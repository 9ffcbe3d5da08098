// Rows of bits, for sets of small numbers. In: nothing. Out: `BitRows`, `BitRow`.
// The steps of a fixed point are whole-word operations that say whether something changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmend {

using BitRow = std::span<uint64_t>;
using ConstBitRow = std::span<const uint64_t>;

inline bool has_bit(ConstBitRow row, size_t bit) { return (row[bit / 64] >> (bit % 64) & 1) != 0; }
inline void set_bit(BitRow row, size_t bit) { row[bit / 64] |= uint64_t{1} << (bit % 64); }
inline void clear_bit(BitRow row, size_t bit) { row[bit / 64] &= ~(uint64_t{1} << (bit % 64)); }

inline void clear_bits(BitRow row, size_t from, size_t to) {
  for (; from < to && from % 64 != 0; ++from) clear_bit(row, from);
  for (; from + 64 <= to; from += 64) row[from / 64] = 0;
  for (; from < to; ++from) clear_bit(row, from);
}

inline bool add_bits(BitRow to, ConstBitRow from) {
  uint64_t changed = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    const uint64_t before = to[i];
    to[i] |= from[i];
    changed |= before ^ to[i];
  }
  return changed != 0;
}

inline bool keep_bits(BitRow to, ConstBitRow mask) {
  uint64_t changed = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    const uint64_t before = to[i];
    to[i] &= mask[i];
    changed |= before ^ to[i];
  }
  return changed != 0;
}

class BitRows {
 public:
  BitRows() = default;
  BitRows(size_t rows, size_t bits) : words_((bits + 63) / 64), all_(rows * words_) {}
  BitRow operator[](size_t row) { return {all_.data() + row * words_, words_}; }
  ConstBitRow operator[](size_t row) const { return {all_.data() + row * words_, words_}; }

 private:
  size_t words_ = 0;
  std::vector<uint64_t> all_;
};

}  // namespace graphmend
