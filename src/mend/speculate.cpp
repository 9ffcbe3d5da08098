// Speculate. In: a statement. Out: `x.item()` as `value(site, 'item', x)`, a test as `truth_of(site, test)`, a bound of
// a slice as `index(site, bound)`, and so on. In eager these do what stood there.
#include "mend/speculate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/one_of.h"
#include "mend/in_vain.h"
#include "mend/speculate_subscript.h"
#include "mend/traced_condition.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// Functions of `math` that ask what they are given for more than its number.
constexpr std::array<std::string_view, 2> kAsking = {"ldexp", "trunc"};

// Functions of torch whose arguments are all sizes and ends, and methods of tensors whose arguments are.
constexpr std::array<std::string_view, 12> kMakers = {"arange", "linspace", "logspace", "zeros",
                                                      "ones",   "empty",    "eye",      "rand",
                                                      "randn",  "randint",  "randperm", "triu_indices"};
constexpr std::array<std::string_view, 26> kSizedMethods = {
    "view", "reshape", "expand",     "repeat", "narrow",      "new_zeros",    "new_ones", "new_empty", "unflatten",
    "tile", "unfold",  "as_strided", "split",  "chunk",       "topk",         "kthvalue", "roll",      "rot90",
    "tril", "triu",    "diagonal",   "select", "multinomial", "matrix_power", "flip",     "unsqueeze"};

// Functions of torch's whose second argument is sizes; which of them it is shows while tracing.
constexpr std::array<std::string_view, 6> kSizedFunctions = {
    "pad", "interpolate", "one_hot", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"};

// Builtins that make a number of what they are given.
constexpr std::array<std::string_view, 4> kConverting = {"int", "float", "bool", "complex"};

// Builtins that take a whole number.
constexpr std::array<std::string_view, 5> kOfWhole = {"range", "hex", "bin", "oct", "chr"};

// Functions that give a bool.
constexpr std::array<std::string_view, 2> kCompared = {"equal", "allclose"};

// Functions and methods whose result is as long as there are different values.
constexpr std::array<std::string_view, 3> kCounting = {"unique", "unique_consecutive", "bincount"};

class Speculation {
 public:
  Speculation(const MendContext& context, const ModuleFacts& facts, bool elements)
      : parts_(context, facts), context_(context), tree_(context.tree), facts_(facts), elements_(elements) {}

  void header(NodeId statement) {
    const NodeKind kind = tree_.kind(statement);
    const bool tests =
        kind == NodeKind::If || kind == NodeKind::Elif || kind == NodeKind::While || kind == NodeKind::Assert;
    for (NodeId part : tree_.children(statement)) {
      const NodeGroup group = node_group(tree_.kind(part));
      if (group == NodeGroup::Clause && tree_.kind(part) != NodeKind::WithItem) continue;
      if (group == NodeGroup::Statement) continue;
      // Only the first expression of a header is its test.
      if (tests && part == tree_.first_child(statement)) test(part);
      expressions(part);
    }
  }

  std::vector<Speculated> take() { return std::move(parts_.found); }

 private:
  void expressions(NodeId root) {
    for (NodeId id = root; id < tree_.end_of(root);) {
      const NodeKind kind = tree_.kind(id);
      if (kind == NodeKind::FString) {
        id = tree_.end_of(id);
        continue;
      }
      if (kind == NodeKind::Call) call(id);
      if (kind == NodeKind::BoolOp && elements_) choice(id);
      if (kind == NodeKind::Compare) comparison(id);
      if (kind == NodeKind::BinOp && elements_) repetition(id);
      if (kind == NodeKind::UnaryOp && tree_[id].operation() == Operator::Not && elements_) test(id);
      if (kind == NodeKind::Subscript) speculate_subscript(parts_, id, elements_);
      if (kind == NodeKind::IfExp) test(IfExpView(tree_, id).test);
      if (kind == NodeKind::Comprehension) {
        for (NodeId condition : ComprehensionView(tree_, id).conditions) test(condition);
      }
      ++id;
    }
  }

  // Of `and`, `or` and `not` each operand is predicted by itself, so that what Python does not evaluate stays so.
  void test(NodeId id) {
    if (!tests_.insert(id).second) return;
    if (tree_.kind(id) == NodeKind::BoolOp) {
      for (NodeId operand : tree_.children(id)) test(operand);
      return;
    }
    if (tree_.kind(id) == NodeKind::UnaryOp && tree_[id].operation() == Operator::Not) {
      return test(tree_.first_child(id));
    }
    asked(id, "truth_of");
  }

  // What torch compares into one of Python's values.
  void compared(NodeId id) {
    if (tests_.insert(id).second) asked(id, "truth_value");
  }

  void asked(NodeId id, std::string_view mark) {
    if (binds_late_or_waits(tree_, id) || calls_late(id)) return;
    const Span span = context_.span(id);
    Speculated made{PieceText(context_.text), span, context_.site(id, "truth"), true};
    made.text.add("((", span);
    made.text.copy(span);
    WorkedOn worked;
    for (NodeId operand : operands_in_vain(tree_, id)) worked.merge(worked_on(context_, facts_, operand));
    made.text.add(
        ") if " + not_traced(made.site, worked) + " else __graphmend__." + std::string(mark) + "('" + made.site + "', ",
        span);
    if (!write_traced_condition(context_, facts_.scopes, id, span, made.text)) return;
    made.text.add("))", span);
    parts_.found.push_back(std::move(made));
  }

  // `a and b` as a value: the operand that decides is the result, and of each before the last Python asks the truth.
  void choice(NodeId id) {
    if (tests_.contains(id) || !facts_.binds_in_function(tree_, id) || binds_or_waits(tree_, id)) return;
    const bool goes_on = tree_[id].operation() == Operator::And;
    const Span span = context_.span(id);
    Speculated made{PieceText(context_.text), span, context_.site(id, "choice")};
    std::string after;
    for (NodeId operand : tree_.children(id)) {
      if (tree_.end_of(operand) == tree_.end_of(id)) {
        made.text.add("(", span);
        made.text.copy(context_.span(operand));
        made.text.add(")" + after, span);
        break;
      }
      const std::string name = "graphmend_v" + std::to_string(context_.span(operand).start) + "_";
      made.text.add("(" + name + " if " + (goes_on ? "not " : "") + "__graphmend__.truth_of('" + made.site + "', (" +
                        name + " := (",
                    span);
      made.text.copy(context_.span(operand));
      made.text.add("))) else ", span);
      after += ")";
    }
    parts_.found.push_back(std::move(made));
  }

  void comparison(NodeId id) {
    const CompareView view(tree_, id);
    std::vector<NodeId> rest;
    for (NodeId each : view.rest) rest.push_back(each);
    if (elements_ && rest.size() == 2 && is_equality(rest[0])) {
      if (says_sizes(rest[1])) elements_of(view.left);
      if (says_sizes(view.left)) elements_of(rest[1]);
    }
    if (tests_.contains(id)) return;
    const std::optional<bool> is_in = membership(tree_, id);
    if (is_in) {
      parts_.wrap_two(id, "within", *is_in ? "True, " : "False, ", view.left, rest[1]);
    } else if (rest.size() > 2 && elements_) {
      chain(id, view.left, rest);
    }
  }

  bool is_equality(NodeId op) const {
    const std::string_view text = context_.text_of(op);
    return text == "==" || text == "!=";
  }

  // `x.shape`, `list(x.size())`: what is compared with that are whole numbers. With fractions a tensor of whole numbers
  // does not compare as Python's do.
  bool says_sizes(NodeId operand) const {
    std::string_view text = context_.text_of(operand);
    for (const std::string_view made : {"list(", "tuple("}) {
      if (text.starts_with(made) && text.ends_with(")")) text = text.substr(made.size(), text.size() - made.size() - 1);
    }
    const bool is_part = text.ends_with("]") && text.find(".shape[") != std::string_view::npos;
    return is_part || text.ends_with(".shape") || text.ends_with(".size()");
  }

  // `x.shape == [n, 2]`: Python asks for the truth of what each element compares to.
  void elements_of(NodeId operand) {
    if (tree_.kind(operand) != NodeKind::List && tree_.kind(operand) != NodeKind::Tuple) return;
    for (NodeId element : tree_.children(operand)) {
      if (parts_.may_be_tensor(element)) parts_.wrap(element, "element", "", element);
    }
  }

  // `a < b < c` as a value: the comparison that decides is the result, and of each before the last Python asks the
  // truth.
  void chain(NodeId id, NodeId left, const std::vector<NodeId>& rest) {
    if (!facts_.binds_in_function(tree_, id) || binds_or_waits(tree_, id)) return;
    const Span span = context_.span(id);
    Speculated made{PieceText(context_.text), span, context_.site(id, "chain")};
    const auto operand = [&](NodeId each) {
      made.text.add("(", span);
      made.text.copy(context_.span(each));
      made.text.add(")", span);
    };
    // The left operand of the next comparison, once it has been evaluated.
    std::string known;
    std::string after;
    for (std::size_t i = 0; i < rest.size(); i += 2) {
      const bool is_last = i + 2 == rest.size();
      const std::string at = std::to_string(context_.span(rest[i + 1]).start) + "_";
      if (!is_last) {
        made.text.add(
            "(graphmend_v" + at + " if not __graphmend__.truth_of('" + made.site + "', (graphmend_v" + at + " := ",
            span);
      }
      if (known.empty()) {
        operand(left);
      } else {
        made.text.add(known, span);
      }
      made.text.add(" " + std::string(context_.text_of(rest[i])) + " ", span);
      if (!is_last) made.text.add("(graphmend_w" + at + " := ", span);
      operand(rest[i + 1]);
      if (!is_last) made.text.add("))) else ", span);
      known = "graphmend_w" + at;
      if (!is_last) after += ")";
    }
    made.text.add(after, span);
    parts_.found.push_back(std::move(made));
  }

  // `[x] * n`: a list, a tuple or a text is repeated as often as a whole number says.
  void repetition(NodeId id) {
    const BinOpView view(tree_, id);
    if (tree_[id].operation() != Operator::Mult) return;
    if (is_sequence(view.left) && parts_.may_be_tensor(view.right)) parts_.size(view.right, "None");
    if (is_sequence(view.right) && parts_.may_be_tensor(view.left)) parts_.size(view.left, "None");
  }

  bool is_sequence(NodeId id) const {
    const NodeKind kind = tree_.kind(id);
    return kind == NodeKind::List || kind == NodeKind::Tuple || kind == NodeKind::String;
  }

  // Whether a chain of comparisons calls something that may not be reached: `a < b < c()`.
  bool calls_late(NodeId id) const {
    for (NodeId operand : later_operands(tree_, id)) {
      for (NodeId each = operand; each < tree_.end_of(operand); ++each) {
        if (tree_.kind(each) == NodeKind::Call) return true;
      }
    }
    return false;
  }

  void call(NodeId id) {
    NodeId callee = tree_.first_child(id);
    std::vector<NodeId> arguments;
    for (NodeId argument : tree_.children(id)) {
      if (argument != callee) arguments.push_back(argument);
    }
    if (tree_.kind(callee) == NodeKind::Name) {
      const std::string_view name = context_.text_of(callee);
      const bool converts = is_one_of(name, kConverting);
      if (!is_builtin(callee)) return;
      if (converts && arguments.size() == 1 && is_plain(arguments[0])) {
        return parts_.wrap(id, "value", "'" + std::string(name) + "', ", arguments[0]);
      }
      if (name == "range" || (elements_ && is_one_of(name, kOfWhole))) sizes(arguments, "None");
      if ((name == "any" || name == "all") && arguments.size() == 1) truths(id, name, arguments[0]);
      return;
    }
    if (tree_.kind(callee) != NodeKind::Attribute) return;
    NodeId receiver = tree_.first_child(callee);
    const std::string_view method = context_.token_at(tree_[callee].last_token);
    const bool on_torch = context_.text_of(receiver) == "torch" && is_global(receiver);
    if ((method == "item" || method == "tolist") && arguments.empty()) {
      return parts_.wrap(id, "value", "'" + std::string(method) + "', ", receiver);
    }
    if (elements_ && is_one_of(method, kCounting)) return parts_.made_call(id, "counted", method, receiver, arguments);
    if (context_.text_of(receiver) == "math" && is_global(receiver)) {
      if (!is_one_of(method, kAsking)) numbers(arguments);
      return;
    }
    if (positions(id, method, on_torch ? std::nullopt : std::optional(receiver), arguments)) return;
    if (on_torch) {
      if (elements_ && is_one_of(method, kCompared)) return compared(id);
      if (is_one_of(method, kMakers)) sizes(arguments, "torch");
      // The first argument is what a method has before the dot.
      if (elements_ && is_one_of(method, kSizedMethods) && !arguments.empty() && is_plain(arguments[0])) {
        sizes({arguments.begin() + 1, arguments.end()}, "None");
      }
      // What it is filled with may be a tensor, of a dtype of its own.
      if (method == "full") sizes(size_of_full(arguments), "torch");
      return;
    }
    if (elements_ && is_one_of(method, kCompared)) return parts_.made_call(id, "agrees", method, receiver, arguments);
    if (elements_ && is_one_of(method, kSizedFunctions)) return sized_call(id, method, receiver, arguments);
    if (!is_one_of(method, kSizedMethods)) return;
    // Whose method it is shows while tracing; a name can be looked at twice, what else stands before the dot cannot.
    if (tree_.kind(receiver) == NodeKind::Name) {
      sizes(arguments, std::string(context_.text_of(receiver)));
    } else if (elements_) {
      sized_call(id, method, receiver, arguments);
    }
  }

  // `f(x).view(n, 2)`: the run time makes the call, so that what stands before the dot is evaluated once.
  void sized_call(NodeId id, std::string_view method, NodeId receiver, const std::vector<NodeId>& arguments) {
    const auto asks = [this](NodeId each) { return holds_size(each); };
    if (std::any_of(arguments.begin(), arguments.end(), asks))
      parts_.made_call(id, "sized", method, receiver, arguments);
  }

  // What a function of Python's `math` is given: a tensor as the number that it stands for.
  void numbers(const std::vector<NodeId>& arguments) {
    for (NodeId argument : arguments) {
      if (is_plain(argument) && parts_.may_be_tensor(argument)) parts_.wrap(argument, "as_number", "", argument);
    }
  }

  std::vector<NodeId> size_of_full(const std::vector<NodeId>& arguments) const {
    for (NodeId each : arguments) {
      const bool is_size = is_plain(each) || context_.token_at(tree_[each].first_token) == "size";
      if (is_size) return {each};
    }
    return {};
  }

  // `any(test for …)`: of each element only the truth is asked for; and so it is of a tensor's, as one.
  void truths(NodeId id, std::string_view name, NodeId values) {
    const NodeKind kind = tree_.kind(values);
    if (kind == NodeKind::GeneratorExp || kind == NodeKind::ListComp) {
      test(ElementComprehensionView(tree_, values).element);
    } else if (elements_ && (parts_.may_be_tensor(values) || kind == NodeKind::Compare)) {
      parts_.wrap(id, "each", "'" + std::string(name) + "', ", values);
    }
  }

  // Calls whose result is as long as a tensor has elements that are not zero. Without a receiver they are torch's own
  // functions, and the first argument is what their method has before the dot.
  bool positions(NodeId id, std::string_view method, std::optional<NodeId> receiver, std::vector<NodeId> arguments) {
    const std::string_view said = arguments.empty() ? "" : as_tuple_of(arguments.back());
    const bool as_tuple = said == "True";
    if (as_tuple || (said == "False" && method == "nonzero")) arguments.pop_back();
    if (!std::all_of(arguments.begin(), arguments.end(), [this](NodeId each) { return is_plain(each); })) return false;
    const std::string kind = receiver ? "'method" : "'function";
    if (receiver) arguments.insert(arguments.begin(), *receiver);
    if (method == "nonzero" && arguments.size() == 1) {
      parts_.wrap(id, "nonzero", kind + (as_tuple ? " tuple', " : "', "), arguments[0]);
    } else if (method == "where" && !receiver && arguments.size() == 1 && !as_tuple) {
      parts_.wrap(id, "where", "", arguments[0]);
    } else if (method == "masked_select" && arguments.size() == 2 && !as_tuple) {
      parts_.wrap_two(id, "masked_select", kind + "', ", arguments[0], arguments[1]);
    } else {
      return false;
    }
    return true;
  }

  // What is said for `as_tuple`; empty when the argument is another one.
  std::string_view as_tuple_of(NodeId argument) const {
    if (tree_.kind(argument) != NodeKind::Keyword) return "";
    return context_.token_at(tree_[argument].first_token) == "as_tuple" ? context_.text_of(tree_.first_child(argument))
                                                                        : "";
  }

  bool is_builtin(NodeId name) const { return !facts_.scopes.binding(name); }
  bool is_global(NodeId name) const {
    const SymbolId symbol = facts_.scopes.symbol(name);
    return symbol && facts_.scopes[symbol].is_global();
  }

  bool is_plain(NodeId argument) const {
    const NodeKind kind = tree_.kind(argument);
    return kind != NodeKind::Keyword && kind != NodeKind::Starred;
  }

  bool holds_size(NodeId argument) const {
    const std::vector<NodeId> all = parts_.sizes_in(argument);
    return std::any_of(all.begin(), all.end(), [this](NodeId each) { return parts_.may_be_tensor(each); });
  }

  void sizes(const std::vector<NodeId>& arguments, const std::string& owner) {
    for (NodeId argument : arguments) {
      for (NodeId value : parts_.sizes_in(argument)) {
        if (parts_.may_be_tensor(value)) parts_.size(value, owner);
      }
    }
  }

  SpeculatedParts parts_;
  const MendContext& context_;
  const Tree& tree_;
  const ModuleFacts& facts_;
  bool elements_;
  // Expressions of which only the truth is asked for.
  std::set<NodeId> tests_;
};

}  // namespace

std::vector<Speculated> speculate(const MendContext& context, const ModuleFacts& facts, NodeId statement,
                                  bool elements) {
  Speculation speculation(context, facts, elements);
  speculation.header(statement);
  return speculation.take();
}

}  // namespace graphmend
