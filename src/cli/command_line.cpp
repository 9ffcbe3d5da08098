// What the user asked for. In: the words of the command line. Out: one request, or one line that says what is wrong.
// The command is chosen here and its options are read by CLI11. Paths never pass through CLI11's values, which would
// take a folder called `[a,b]` for a list.
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "cli/help.h"
#include "cli/suggest.h"

namespace graphmend {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kPythonCommands = {"run", "explain", "verify"};
constexpr std::array<std::string_view, 6> kCommands = {"run", "explain", "verify", "parse", "dump", "help"};
constexpr std::array<std::string_view, 7> kDumpKinds = {"tokens", "tree",     "ast",    "scopes",
                                                        "flow",   "liveness", "effects"};
constexpr std::array<std::string_view, 3> kOutputFormats = {"text", "concise", "json"};
constexpr unsigned kMostJobs = 1024;

std::string in_backticks(std::string_view word) { return "`" + std::string(word) + "`"; }

UsageError wrong(std::string message, std::string_view command = {}) {
  const std::string page = command.empty() ? "graphmend --help" : "graphmend " + std::string(command) + " --help";
  return {std::move(message) + "; see " + in_backticks(page)};
}

// "unknown command `prase`; did you mean `parse`?"
UsageError unknown(std::string_view what, std::string_view word, std::span<const std::string_view> words,
                   std::string_view command = {}) {
  std::string message = "unknown " + std::string(what) + " " + in_backticks(word);
  const std::string_view near = nearest_word(word, words);
  if (near.empty()) return wrong(std::move(message), command);
  return {message + "; did you mean " + in_backticks(near) + "?"};
}

template <size_t N>
std::optional<size_t> index_of(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<size_t>(found - words.begin());
}

// Options of one command, read from its words. What is no option is left in `arguments`.
class OptionReader {
 public:
  OptionReader(std::string_view command, const Words& words) : command_(command) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    before_.assign(words.begin(), dashes);
    if (dashes != words.end()) after_.assign(dashes + 1, words.end());
    app_.set_help_flag();
    app_.allow_extras();
    add_flag("-h,--help", help_);
    add_value("-t,--target-version", target_);
  }

  // `names` is a literal: "-j,--jobs".
  void add_value(std::string_view names, std::string& value) {
    app_.add_option(std::string(names), value)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    names_.push_back(names.substr(names.find("--")));
  }

  void add_flag(std::string_view names, bool& value) {
    app_.add_flag(std::string(names), value);
    names_.push_back(names.substr(names.find("--")));
  }

  // Fills the values; what ends the matter here (help, a mistake) is returned.
  std::optional<Request> read() {
    try {
      // CLI11 takes the words from the back.
      app_.parse(Words(before_.rbegin(), before_.rend()));
    } catch (const CLI::ParseError& error) {
      return wrong(plain_message(error), command_);
    }
    if (help_) return TextRequest{std::string(help_page(command_))};
    for (const std::string& word : app_.remaining()) {
      if (word.size() > 1 && word[0] == '-') return unknown_option(word);
      arguments_.push_back(word);
    }
    arguments_.insert(arguments_.end(), after_.begin(), after_.end());
    if (target_.empty()) return std::nullopt;
    const std::optional<Version> version = parse_version(target_);
    if (!version) {
      const std::string range = kOldestVersion.text() + " to " + kNewestVersion.text();
      return wrong("unknown target version " + in_backticks(target_) + ", expected " + range, command_);
    }
    version_ = *version;
    return std::nullopt;
  }

  const Words& arguments() const { return arguments_; }
  Version target() const { return version_; }

 private:
  UsageError unknown_option(const std::string& word) const {
    return unknown("option", word.substr(0, word.find('=')), names_, command_);
  }

  // CLI11 says "--jobs: 1 required TEXT missing".
  static std::string plain_message(const CLI::ParseError& error) {
    std::string message = error.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
      return "option " + in_backticks(std::string_view(message).substr(0, message.find(':'))) + " needs a value";
    }
    return message;
  }

  std::string_view command_;
  CLI::App app_;
  Words before_;
  Words after_;
  Words arguments_;
  std::vector<std::string_view> names_;
  bool help_ = false;
  std::string target_;
  Version version_ = kAnyVersion;
};

std::optional<unsigned> parse_jobs(std::string_view text) {
  unsigned jobs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (error != std::errc() || end != text.data() + text.size() || jobs == 0 || jobs > kMostJobs) return std::nullopt;
  return jobs;
}

Request read_parse(const Words& words) {
  ParseRequest request;
  std::string format = "text";
  std::string jobs;
  OptionReader reader("parse", words);
  reader.add_value("--output-format", format);
  reader.add_value("-j,--jobs", jobs);
  reader.add_flag("-q,--quiet", request.quiet);
  if (std::optional<Request> ended = reader.read()) return *std::move(ended);

  const std::optional<size_t> format_index = index_of(kOutputFormats, format);
  if (!format_index) return unknown("output format", format, kOutputFormats, "parse");
  request.format = static_cast<OutputFormat>(*format_index);
  request.jobs = std::clamp(std::thread::hardware_concurrency(), 1u, kMostJobs);
  if (!jobs.empty()) {
    const std::optional<unsigned> count = parse_jobs(jobs);
    if (!count) return wrong("`--jobs` takes a number from 1 to " + std::to_string(kMostJobs), "parse");
    request.jobs = *count;
  }
  request.target = reader.target();
  request.paths = reader.arguments();
  if (request.paths.empty()) return wrong("nothing to parse: name a file, a folder, or `-`", "parse");
  return request;
}

Request read_dump(const Words& words) {
  OptionReader reader("dump", words);
  if (std::optional<Request> ended = reader.read()) return *std::move(ended);

  const Words& arguments = reader.arguments();
  if (arguments.empty())
    return wrong("say what to dump: `tokens`, `tree`, `ast`, `scopes`, `flow`, `liveness` or `effects`", "dump");
  const std::optional<size_t> kind = index_of(kDumpKinds, arguments[0]);
  if (!kind) return unknown("dump", arguments[0], kDumpKinds, "dump");
  if (arguments.size() == 1) return wrong("nothing to dump: name a file or `-`", "dump");
  if (arguments.size() > 2)
    return wrong("`dump` takes one file, " + in_backticks(arguments[2]) + " is one too many", "dump");
  return DumpRequest{static_cast<DumpKind>(*kind), arguments[1], reader.target()};
}

Request read_help(const Words& words) {
  std::string command;
  for (const std::string& word : words) {
    if (word == "-h" || word == "--help") return TextRequest{std::string(help_page("help"))};
    if (!command.empty()) return wrong("`help` explains one command at a time");
    command = word;
  }
  if (!command.empty() && !index_of(kCommands, command)) return unknown("command", command, kCommands);
  // Their options are read there, so their pages are there.
  if (index_of(kPythonCommands, command)) return PythonRequest{{command, "--help"}};
  return TextRequest{std::string(help_page(command))};
}

}  // namespace

Request read_command_line(const std::vector<std::string>& words) {
  if (words.empty()) return wrong("no command given");
  const std::string& first = words[0];
  const Words rest(words.begin() + 1, words.end());
  if (index_of(kPythonCommands, first)) return PythonRequest{words};
  if (first == "parse") return read_parse(rest);
  if (first == "dump") return read_dump(rest);
  if (first == "help") return read_help(rest);
  if (first == "-h" || first == "--help") return TextRequest{std::string(help_page({}))};
  if (first == "-V" || first == "--version") return TextRequest{"graphmend " GRAPHMEND_VERSION "\n"};
  if (first.size() > 1 && first[0] == '-') {
    static constexpr std::array<std::string_view, 2> kOptions = {"--help", "--version"};
    return unknown("option", first, kOptions);
  }
  return unknown("command", first, kCommands);
}

}  // namespace graphmend
