// What known functions do. In: a name. Out: its line in effects.def.
#include "facts/effects_table.h"

#include <string>
#include <unordered_map>

#include "facts/effects.h"

namespace graphmend {

namespace {

enum class Sort : uint8_t { Builtin, Function, Torch, TorchFunction, Method, Functional, Attribute, LoggerMethod };

// The words of effects.def.
enum Word : uint32_t {
  Total = 0,
  Shapes = effect::kRaisesOnShapes,
  Values = effect::kRaises,
  Reads = effect::kReadsState,
  Global = effect::kWritesGlobal,
  Talks = effect::kTalks | effect::kRaises,
  Random = effect::kRandom,
  Syncs = effect::kSyncs,
  Plain = effect::kAssumesPlain,
  Receiver = 1u << 16,
  Arguments = 1u << 17,
  Context = 1u << 18,
  ByPlace = 1u << 19,
};

struct Line {
  Sort sort;
  std::string_view name;
  uint32_t bits;
};

constexpr Line kLines[] = {
#define EFFECT(sort, name, bits) {Sort::sort, name, bits},
#include "facts/effects.def"
};

using Table = std::unordered_map<std::string_view, uint32_t>;

template <class Wanted>
Table select(Wanted wanted) {
  Table table;
  for (const Line& line : kLines) {
    if (wanted(line.sort)) table.emplace(line.name, line.bits);
  }
  return table;
}

std::optional<uint32_t> find(const Table& table, std::string_view name) {
  auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

KnownCall make(uint32_t bits) {
  return {static_cast<uint16_t>(bits & 0xFFFF), (bits & Receiver) != 0, (bits & Arguments) != 0, (bits & Context) != 0,
          (bits & ByPlace) != 0};
}

const Table& methods() {
  static const Table kTable = select([](Sort sort) { return sort == Sort::Torch || sort == Sort::Method; });
  return kTable;
}

}  // namespace

std::optional<KnownCall> known_builtin(std::string_view name) {
  static const Table kTable = select([](Sort sort) { return sort == Sort::Builtin; });
  const std::optional<uint32_t> bits = find(kTable, name);
  return bits ? std::optional(make(*bits)) : std::nullopt;
}

std::optional<KnownCall> known_function(std::string_view dotted) {
  static const Table kTorchTable = select([](Sort sort) { return sort == Sort::Torch || sort == Sort::TorchFunction; });
  static const Table kFunctionalTable = select([](Sort sort) { return sort == Sort::Functional; });
  static const Table kOthersTable = select([](Sort sort) { return sort == Sort::Function; });
  constexpr std::string_view kTorch = "torch.";
  constexpr std::string_view kFunctional = "torch.nn.functional.";
  constexpr std::string_view kTensor = "torch.Tensor.";
  std::optional<uint32_t> bits = find(kOthersTable, dotted);
  if (!bits && dotted.starts_with(kFunctional)) {
    bits = find(kFunctionalTable, dotted.substr(kFunctional.size()));
  } else if (!bits && dotted.starts_with(kTensor)) {
    const std::optional<KnownCall> method = known_method(dotted.substr(kTensor.size()));
    // The receiver is the first argument.
    if (method) return KnownCall{method->effects, false, method->writes_receiver, false, false};
  } else if (!bits && dotted.starts_with(kTorch)) {
    bits = find(kTorchTable, dotted.substr(kTorch.size()));
    // `torch.relu_` and its like.
    if (!bits && dotted.ends_with("_") && !dotted.ends_with("__")) {
      bits = find(kTorchTable, dotted.substr(kTorch.size(), dotted.size() - kTorch.size() - 1));
      if (bits) bits = *bits | Arguments | Shapes;
    }
  }
  return bits ? std::optional(make(*bits)) : std::nullopt;
}

std::optional<KnownCall> known_method(std::string_view name) {
  std::optional<uint32_t> bits = find(methods(), name);
  if (!bits && name.ends_with('_') && !name.ends_with("__")) {
    bits = find(methods(), name.substr(0, name.size() - 1));
    if (bits) bits = *bits | Receiver | Shapes;
  }
  return bits ? std::optional(make(*bits)) : std::nullopt;
}

bool is_tensor_attribute(std::string_view name) {
  static const Table kTable = select([](Sort sort) { return sort == Sort::Attribute; });
  return kTable.contains(name);
}

bool is_logger_method(std::string_view name) {
  static const Table kTable = select([](Sort sort) { return sort == Sort::LoggerMethod; });
  return kTable.contains(name);
}

}  // namespace graphmend
