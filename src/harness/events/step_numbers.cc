#include "harness/events/step_numbers.h"

#include <re2/re2.h>

#include <cstdlib>
#include <string>

namespace caip::harness {
namespace {

using re2::RE2;
using re2::StringPiece;

StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

// Whether the words before a number say that it is loaded, saved or begun with.
bool IsAboutCheckpoint(std::string_view before) {
  static const RE2 words(
      "(?i)\\b(?:resum(?:e|ed|es|ing)|restor(?:e|ed|es|ing)|(?:re)?load(?:s|ed|ing)?|"
      "sav(?:e|ed|es|ing)|checkpoint(?:s|ed|ing)?|ckpts?|snapshots?|continu(?:e|ed|es|ing)|"
      "(?:re)?start(?:s|ed|ing)?|begin(?:s|ning)?|began|recover(?:s|ed|ing)?|"
      "writ(?:e|es|ing|ten)|wrote)\\b");
  const size_t drawn = before.rfind('\r');  // a progress bar that the line draws over
  if (drawn != std::string_view::npos) before.remove_prefix(drawn);
  return RE2::PartialMatch(PieceOf(before), words);
}

/// How lines name steps and epochs.
struct NumberShapes {
  NumberShapes(const std::string& epochs, const std::string& steps)
      : epoch("(?i)\\b" + epochs + "(?:\\(train\\))?" + kNumber),
        step("(?i)\\b(?:global[_ -]?step|train[_ -]?step|" + steps + "|iterations?|iters?)" +
             kNumber),
        batch("(?i)\\bepoch(?:\\(train\\))?\\s*:?\\s*\\[\\s*\\d+\\s*\\]\\s*\\[\\s*(\\d+)\\s*/") {}

  // "=20", ": 20", "'] 20", " [20]", " [ 20/30]"
  static constexpr char kNumber[] =
      "['\"]?(?:\\s*[\\]=:# ]\\s*['\"]?(\\d+)(?:[^0-9.]|\\.\\D|\\.?$)|"
      "\\s*[=:#]?\\s*\\[\\s*(\\d+)\\s*(?:/\\s*\\d+\\s*)?\\])";
  RE2 epoch;
  RE2 step;
  RE2 batch;  // of "Epoch: [3][ 20/30]"
};

std::optional<int64_t> FindNumber(std::string_view line, const RE2& shape, bool is_report) {
  StringPiece plain;
  StringPiece in_brackets;
  const bool has_both = shape.NumberOfCapturingGroups() > 1;
  const bool found = has_both ? RE2::PartialMatch(PieceOf(line), shape, &plain, &in_brackets)
                              : RE2::PartialMatch(PieceOf(line), shape, &plain);
  if (!found) return std::nullopt;
  const StringPiece& number = plain.empty() ? in_brackets : plain;
  const auto begin = static_cast<size_t>(number.data() - line.data());
  if (is_report && IsAboutCheckpoint(line.substr(0, begin))) return std::nullopt;
  return WholeNumber({number.data(), number.size()});
}

StepNumbers FindNumbers(std::string_view line, const NumberShapes& shapes, bool is_report) {
  StepNumbers numbers;
  numbers.epoch = FindNumber(line, shapes.epoch, is_report);
  numbers.step = FindNumber(line, shapes.step, is_report);
  numbers.batch = FindNumber(line, shapes.batch, is_report);
  return numbers;
}

// Names of numbers that are not values of a step. Of "done in 0.5", a value has no name.
bool IsNameOfValue(const std::string& name, bool is_assigned) {
  static const RE2 counts("(?i)(?:.*[./_])?(?:steps?|iterations?|iters?|epochs?|batch(?:es)?)");
  static const RE2 words(
      "(?i)in|after|took|for|at|to|from|of|with|and|than|by|on|about|until|within");
  if (RE2::FullMatch(name, counts)) return false;
  return is_assigned || !RE2::FullMatch(name, words);
}

}  // namespace

std::optional<int64_t> WholeNumber(std::string_view text) {
  constexpr size_t kDigitsMax = 12;
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  return std::strtoll(std::string(text).c_str(), nullptr, 10);
}

StepNumbers ReportedNumbers(std::string_view line) {
  static const NumberShapes shapes("epoch", "step");
  return FindNumbers(line, shapes, true);
}

StepNumbers NamedNumbers(std::string_view line) {
  static const NumberShapes shapes("epochs?", "steps?");
  return FindNumbers(line, shapes, false);
}

bool HasValues(std::string_view line) {
  static const RE2 value(
      "(?i)([a-z_][a-z0-9_./]*)['\"]?(?:(\\s*[=:]\\s*)['\"]?|\\s+)"
      "([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?|nan|[-+]?inf)(?:[^0-9a-z.:%/]|$)");
  StringPiece rest = PieceOf(line);
  std::string name;
  std::string sign;
  std::string number;
  while (RE2::FindAndConsume(&rest, value, &name, &sign, &number)) {
    const bool is_whole = number.find_first_not_of("+-0123456789") == std::string::npos;
    if (sign.empty() && is_whole) continue;
    if (IsNameOfValue(name, !sign.empty())) return true;
  }
  return false;
}

}  // namespace caip::harness
