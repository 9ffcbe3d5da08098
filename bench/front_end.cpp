// Speed and memory of the front end. In: Python files. Out: a JSON line for each stage, and one for the memory it took.
// CPU time of one thread over text that is in memory already; rivals are run beside it by bench/front_end.py.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/find_files.h"
#include "driver/read_file.h"
#include "facts/later_errors.h"
#include "lex/lexer.h"
#include "parse/parser.h"
#include "source/source.h"

namespace {

// What is allocated now, and the most there was since `reset_peak`; every allocation of the program is counted.
size_t live_bytes = 0;
size_t peak_bytes = 0;

void reset_peak() { peak_bytes = live_bytes; }

void* counted_allocation(size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  // No std::bad_alloc: a benchmark that runs out of memory has no result.
  if (memory == nullptr) std::abort();
  live_bytes += malloc_usable_size(memory);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return memory;
}

void counted_free(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return counted_allocation(size); }
void* operator new[](size_t size) { return counted_allocation(size); }
void operator delete(void* memory) noexcept { counted_free(memory); }
void operator delete[](void* memory) noexcept { counted_free(memory); }
void operator delete(void* memory, size_t) noexcept { counted_free(memory); }
void operator delete[](void* memory, size_t) noexcept { counted_free(memory); }

namespace graphmend {
namespace {

struct Input {
  std::string bytes;
  Source source;
};

// Each stage does the work of those before it anew, except that all but `decode` start from decoded text. Its answer is
// a count that depends on all its work, so that nothing is optimised away.
struct Stage {
  std::string_view name;
  std::function<size_t(const Input&)> run;
};

size_t count_lines(const Input& input) {
  const std::string& text = input.source.text;
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

size_t decode_only(const Input& input) { return decode_source(input.bytes).text.size(); }

size_t lex_only(const Input& input) { return lex(input.source.text).tokens.size(); }

size_t lex_and_parse(const Input& input) {
  const LexResult lexed = lex(input.source.text);
  return parse(input.source.text, lexed.tokens).tree.size();
}

size_t decode_lex_and_parse(const Input& input) {
  const Source source = decode_source(input.bytes);
  const LexResult lexed = lex(source.text);
  return parse(source.text, lexed.tokens).tree.size();
}

size_t find_all_errors(const Input& input) {
  const Source source = decode_source(input.bytes);
  const LexResult lexed = lex(source.text);
  const ParseResult parsed = parse(source.text, lexed.tokens);
  const bool is_clean = lexed.errors.empty() && parsed.errors.empty();
  const size_t later =
      is_clean ? find_later_errors(source.text, lexed.tokens, parsed.tree, kAnyVersion).size() : size_t{0};
  return parsed.tree.size() + later;
}

const Stage kStages[] = {
    {"scan", count_lines},
    {"decode", decode_only},
    {"lex", lex_only},
    {"lex+parse", lex_and_parse},
    {"tree", decode_lex_and_parse},  // from bytes, which is what rivals that take bytes
                                     // do
    {"errors", find_all_errors},     // the tree, and what CPython's later stages would reject
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Options {
  int rounds = 5;
  // Empty: all of them, and the memory. "none" only reads the files, which callgrind subtracts.
  std::string_view stage;
  bool each_file = false;
  std::vector<std::string> paths;
};

[[noreturn]] void stop(std::string_view message) {
  std::fprintf(stderr, "bench_front_end: %.*s\n", static_cast<int>(message.size()), message.data());
  std::exit(2);
}

void read_list(const std::string& path, std::vector<std::string>& paths) {
  std::ifstream lines(path);
  if (!lines) stop(path + ": cannot be read");
  for (std::string line; std::getline(lines, line);) paths.push_back(line);
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == count) stop(std::string(argument) + " needs a value");
      return arguments[++i];
    };
    if (argument == "--rounds") {
      const std::string_view text = value();
      std::from_chars(text.data(), text.data() + text.size(), options.rounds);
      if (options.rounds < 1) stop("--rounds needs a number from 1 up");
    } else if (argument == "--stage") {
      options.stage = value();
    } else if (argument == "--list") {
      read_list(std::string(value()), options.paths);
    } else if (argument == "--each") {
      options.each_file = true;
    } else {
      options.paths.emplace_back(argument);
    }
  }
  if (options.paths.empty()) {
    stop("usage: bench_front_end [--rounds N] [--stage NAME] [--each] [--list FILE] PATH...");
  }
  return options;
}

std::vector<Input> read_inputs(const std::vector<std::string>& arguments) {
  const FoundFiles found = find_files(arguments);
  if (!found.problems.empty()) stop(found.problems[0].path + ": " + found.problems[0].reason);
  std::vector<Input> inputs;
  inputs.reserve(found.paths.size());
  for (const std::string& path : found.paths) {
    FileContent content = read_file(path);
    if (!content.error.empty()) stop(path + ": " + content.error);
    Source source = decode_source(content.bytes);
    inputs.push_back({std::move(content.bytes), std::move(source)});
  }
  return inputs;
}

size_t total_bytes(const std::vector<Input>& inputs) {
  size_t bytes = 0;
  for (const Input& input : inputs) bytes += input.bytes.size();
  return bytes;
}

size_t run_stage(const Stage& stage, const std::vector<Input>& inputs) {
  size_t answer = 0;
  for (const Input& input : inputs) answer += stage.run(input);
  return answer;
}

void print_stage(std::string_view name, size_t files, size_t bytes, double seconds, size_t answer) {
  std::printf("{\"stage\": \"%.*s\", \"files\": %zu, \"bytes\": %zu, \"seconds\": %.9f, \"answer\": %zu}\n",
              static_cast<int>(name.size()), name.data(), files, bytes, seconds, answer);
}

// The fastest of all rounds; the stages take turns, so that a slow moment of the machine hits all of them alike.
void measure_speed(const std::vector<Input>& inputs, int rounds) {
  double best[std::size(kStages)];
  std::fill(std::begin(best), std::end(best), 1e300);
  size_t answers[std::size(kStages)] = {};
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < std::size(kStages); ++i) {
      const double start = cpu_seconds();
      answers[i] = run_stage(kStages[i], inputs);
      best[i] = std::min(best[i], cpu_seconds() - start);
    }
  }
  const size_t bytes = total_bytes(inputs);
  for (size_t i = 0; i < std::size(kStages); ++i) {
    print_stage(kStages[i].name, inputs.size(), bytes, best[i], answers[i]);
  }
}

// Bytes allocated while tokens and tree are made (tokens, nodes, and the arrays the work needs), and what stays.
void measure_memory(const std::vector<Input>& inputs) {
  // A small file's overhead says nothing about the tree.
  constexpr size_t kWorstFrom = 32768;
  size_t tokens = 0, nodes = 0, peak = 0, kept = 0;
  double worst = 0;
  for (const Input& input : inputs) {
    const std::string& text = input.source.text;
    const size_t before = live_bytes;
    reset_peak();
    const LexResult lexed = lex(text);
    const ParseResult parsed = parse(text, lexed.tokens);
    tokens += lexed.tokens.size();
    nodes += parsed.tree.size();
    peak += peak_bytes - before;
    kept += live_bytes - before;
    if (text.size() >= kWorstFrom) {
      worst = std::max(worst, static_cast<double>(peak_bytes - before) / static_cast<double>(text.size()));
    }
  }
  std::printf(
      "{\"stage\": \"memory\", \"bytes\": %zu, \"tokens\": %zu, \"nodes\": %zu, \"peak\": %zu, \"kept\": %zu, "
      "\"worst_peak_per_byte\": %.3f}\n",
      total_bytes(inputs), tokens, nodes, peak, kept, worst);
}

// One stage, once: what callgrind counts. With --each a line for each file, the fastest of all rounds: how time grows
// with length.
void run_one(const Options& options, const std::vector<Input>& inputs) {
  const Stage* stage = nullptr;
  for (const Stage& candidate : kStages) {
    if (candidate.name == options.stage) stage = &candidate;
  }
  if (stage == nullptr) stop("there is no stage " + std::string(options.stage));
  if (!options.each_file) {
    print_stage(stage->name, inputs.size(), total_bytes(inputs), 0, run_stage(*stage, inputs));
    return;
  }
  // Large blocks would be mapped anew each time, and small ones not: the page faults would look like superlinear time.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  for (const Input& input : inputs) {
    double best = 1e300;
    size_t answer = 0;
    for (int round = 0; round < options.rounds; ++round) {
      const double start = cpu_seconds();
      answer = stage->run(input);
      best = std::min(best, cpu_seconds() - start);
    }
    print_stage(stage->name, 1, input.bytes.size(), best, answer);
  }
}

int run(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  const std::vector<Input> inputs = read_inputs(options.paths);
  if (options.stage == "none") {
    print_stage("none", inputs.size(), total_bytes(inputs), 0, 0);
  } else if (!options.stage.empty()) {
    run_one(options, inputs);
  } else {
    measure_speed(inputs, options.rounds);
    measure_memory(inputs);
  }
  return 0;
}

}  // namespace
}  // namespace graphmend

int main(int count, char** arguments) { return graphmend::run(count, arguments); }
