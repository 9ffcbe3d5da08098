// The two look-ups behind compute_scopes. In: names, pairs of numbers. Out: dense numbers, in order of first sight.
// Open addressing with linear probing: a module asks some ten thousand times, and these cost a few nanoseconds each.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace graphmend {

// Names to numbers. Keeps its own copy of each name.
class NameTable {
 public:
  NameTable() : slots_(kFirstSlots, kEmpty) { starts_.push_back(0); }

  uint32_t intern(std::string_view name) {
    const uint32_t hash = hash_of(name);
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != kEmpty) {
      const uint32_t id = slots_[slot];
      if (hashes_[id] == hash && name_of(id) == name) return id;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    const auto id = static_cast<uint32_t>(hashes_.size());
    slots_[slot] = id;
    hashes_.push_back(hash);
    text_ += name;
    starts_.push_back(static_cast<uint32_t>(text_.size()));
    if (hashes_.size() * 2 > slots_.size()) grow();
    return id;
  }
  std::string_view name_of(uint32_t id) const {
    return std::string_view(text_).substr(starts_[id], starts_[id + 1] - starts_[id]);
  }
  uint32_t size() const { return static_cast<uint32_t>(hashes_.size()); }
  std::string& text() { return text_; }
  std::vector<uint32_t>& starts() { return starts_; }

 private:
  static constexpr uint32_t kEmpty = 0xFFFFFFFF;
  static constexpr size_t kFirstSlots = 1024;

  static uint32_t hash_of(std::string_view name) {
    uint64_t hash = name.size();
    while (!name.empty()) {
      uint64_t word = 0;
      const size_t taken = name.size() < sizeof word ? name.size() : sizeof word;
      std::memcpy(&word, name.data(), taken);
      hash = (hash ^ word) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
      name.remove_prefix(taken);
    }
    return static_cast<uint32_t>(hash);
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (uint32_t id = 0; id < hashes_.size(); ++id) {
      size_t slot = hashes_[id] & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = id;
    }
  }

  std::vector<uint32_t> slots_;
  std::vector<uint32_t> hashes_;
  std::string text_;
  std::vector<uint32_t> starts_;
};

// (scope, name) to a number that the caller chooses.
class PairTable {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // The place of the value, `kNone` where the pair is new; valid until the next call.
  uint32_t& at(uint32_t scope, uint32_t name) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[find(slots_, key_of(scope, name))];
    if (slot.key == kNoKey) {
      slot.key = key_of(scope, name);
      ++count_;
    }
    return slot.value;
  }
  uint32_t get(uint32_t scope, uint32_t name) const {
    return count_ == 0 ? kNone : slots_[find(slots_, key_of(scope, name))].value;
  }

 private:
  static constexpr size_t kFirstSlots = 64;
  static constexpr uint64_t kNoKey = ~uint64_t{0};
  struct Slot {
    uint64_t key = kNoKey;
    uint32_t value = kNone;
  };

  static uint64_t key_of(uint32_t scope, uint32_t name) { return uint64_t{scope} << 32 | name; }
  static size_t find(const std::vector<Slot>& slots, uint64_t key) {
    size_t slot = static_cast<size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15 >> 32) & (slots.size() - 1);
    while (slots[slot].key != key && slots[slot].key != kNoKey) slot = (slot + 1) & (slots.size() - 1);
    return slot;
  }
  void grow() {
    std::vector<Slot> larger(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.key != kNoKey) larger[find(larger, slot.key)] = slot;
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace graphmend
