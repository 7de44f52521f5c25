#include "tuning/space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "tuning/errors.h"

namespace caip::tuning {
namespace {

bool Contains(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

bool Space::IsActive(size_t parameter, const Point& point) const {
  const Parameter& of = parameters_[parameter];
  if (!of.parent) return true;
  const auto parent = point.find(parameters_[*of.parent].name);
  return parent != point.end() && Contains(of.parent_values, parent->second);
}

Point Space::Completed(Point point, Random& random) const {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (!IsActive(i, point)) {
      point.erase(parameter.name);
    } else if (!point.contains(parameter.name)) {
      point.emplace(parameter.name, parameter.Draw(random));
    }
  }
  return point;
}

// Counts the points of the parameter and its descendants. A value counts once for each point of the
// children that it activates.
double Space::CountBelow(size_t parameter) const {
  const Parameter& top = parameters_[parameter];
  if (top.type == ValueType::kDouble) return top.Count();
  const std::set<Value> listed = top.Listed();
  std::map<Value, double> below;  // by the value
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& child = parameters_[i];
    if (child.parent != parameter) continue;
    const double count = CountBelow(i);
    for (const Value& value :
         std::set<Value>(child.parent_values.begin(), child.parent_values.end())) {
      const bool is_known = listed.empty() ? top.Has(value) : listed.contains(value);
      if (is_known) below.try_emplace(value, 1).first->second *= count;
    }
  }
  double count = top.Count();
  for (const auto& [value, points] : below) count += points - 1;
  return count;
}

double Space::Count() const {
  double count = 1;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].parent) count *= CountBelow(i);
  }
  return count;
}

ValueTexts Space::Texts(const Point& point) {
  ValueTexts texts;
  for (const auto& [name, value] : point) texts.emplace(name, TextOf(value));
  return texts;
}

Result<Point> Space::Read(const ValueTexts& texts) const {
  Point point;
  std::vector<FieldViolation> wrong;
  std::set<std::string> reported;  // the children of a wrong value cannot be checked
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (parameter.parent && reported.contains(parameters_[*parameter.parent].name)) {
      reported.insert(parameter.name);
      continue;
    }
    if (!IsActive(i, point)) continue;
    const auto text = texts.find(parameter.name);
    const bool given = text != texts.end();
    if (const auto value = given ? parameter.Read(text->second) : std::nullopt) {
      point.emplace(parameter.name, *value);
      continue;
    }
    reported.insert(parameter.name);
    const Error error = given ? errors::ValueOutside(parameter.name, text->second)
                              : errors::ValueMissing(parameter.name);
    wrong.push_back({parameter.name, error.message});
  }
  for (const auto& [name, text] : texts) {
    if (point.contains(name) || reported.contains(name)) continue;
    wrong.push_back({name, errors::ParameterNotActive(name).message});
  }
  if (wrong.empty()) return point;
  return errors::ValuesInvalid(std::move(wrong));
}

// Parameters: how their values are drawn, counted, read and scaled.

namespace {

template <typename Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number number{};
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

template <typename T>
std::optional<Value> FindNext(const std::vector<T>& set, const Value& value) {
  auto found = std::find(set.begin(), set.end(), std::get<T>(value));
  if (found == set.end() || ++found == set.end()) return std::nullopt;
  return *found;
}

// Integers are drawn and scaled from half a step below the least to half a step above the most, so
// that the end values are as likely as the others.
double LowerEdge(const Parameter& of) { return static_cast<double>(of.least_integer) - 0.5; }
double UpperEdge(const Parameter& of) { return static_cast<double>(of.most_integer) + 0.5; }

Value ToInteger(const Parameter& of, double unit) {
  const double x = std::nearbyint(FromUnit(of.scale, LowerEdge(of), UpperEdge(of), unit));
  // Doubles beyond 2^53 can round to a value outside the range, even outside 64 bits.
  if (!(x > static_cast<double>(of.least_integer))) return of.least_integer;
  if (!(x < static_cast<double>(of.most_integer))) return of.most_integer;
  return static_cast<int64_t>(x);
}

Value DrawInteger(const Parameter& of, Random& random) {
  if (of.scale != Scale::kLinear) return ToInteger(of, random.Unit());
  const uint64_t least = static_cast<uint64_t>(of.least_integer);
  const uint64_t count = static_cast<uint64_t>(of.most_integer) - least + 1;  // 0: all 64 bits
  return static_cast<int64_t>(least + (count == 0 ? random.Next() : random.Below(count)));
}

Value NearestNumber(const Parameter& of, double unit) {
  const auto distance = [&](double number) { return std::fabs(of.UnitOf(number) - unit); };
  return *std::min_element(of.numbers.begin(), of.numbers.end(),
                           [&](double a, double b) { return distance(a) < distance(b); });
}

}  // namespace

std::set<Value> Parameter::Listed() const {
  if (type == ValueType::kDiscrete) return {numbers.begin(), numbers.end()};
  if (type == ValueType::kCategorical) return {categories.begin(), categories.end()};
  return {};
}

std::vector<std::string> Distinct(const std::vector<std::string>& texts) {
  std::set<std::string_view> known;
  std::vector<std::string> distinct;
  for (const std::string& text : texts) {
    if (known.insert(text).second) distinct.push_back(text);
  }
  return distinct;
}

bool Parameter::Has(const Value& value) const {
  const double* number = std::get_if<double>(&value);
  switch (type) {
    case ValueType::kDouble:
      return number && *number >= least && *number <= most;
    case ValueType::kInteger: {
      const int64_t* integer = std::get_if<int64_t>(&value);
      return integer && *integer >= least_integer && *integer <= most_integer;
    }
    case ValueType::kDiscrete:
      return number && std::find(numbers.begin(), numbers.end(), *number) != numbers.end();
    case ValueType::kCategorical: {
      const std::string* text = std::get_if<std::string>(&value);
      return text && std::find(categories.begin(), categories.end(), *text) != categories.end();
    }
  }
  return false;
}

Value Parameter::Draw(Random& random) const {
  switch (type) {
    case ValueType::kInteger:
      return DrawInteger(*this, random);
    case ValueType::kDiscrete:
      return numbers[random.Below(numbers.size())];
    case ValueType::kCategorical:
      return categories[random.Below(categories.size())];
    case ValueType::kDouble:
      break;
  }
  return AtUnit(random.Unit());
}

std::optional<Value> Parameter::First() const {
  if (type == ValueType::kInteger) return least_integer;
  if (type == ValueType::kDiscrete) return numbers.front();
  if (type == ValueType::kCategorical) return categories.front();
  return std::nullopt;
}

std::optional<Value> Parameter::After(const Value& value) const {
  if (type == ValueType::kDiscrete) return FindNext(numbers, value);
  if (type == ValueType::kCategorical) return FindNext(categories, value);
  if (type == ValueType::kDouble) return std::nullopt;
  const int64_t integer = std::get<int64_t>(value);
  if (integer >= most_integer) return std::nullopt;
  return integer + 1;
}

double Parameter::UnitOf(const Value& value) const {
  switch (type) {
    case ValueType::kInteger:
      return ToUnit(scale, LowerEdge(*this), UpperEdge(*this),
                    static_cast<double>(std::get<int64_t>(value)));
    case ValueType::kDiscrete:
      return ToUnit(scale, numbers.front(), numbers.back(), std::get<double>(value));
    case ValueType::kDouble:
      return ToUnit(scale, least, most, std::get<double>(value));
    case ValueType::kCategorical:
      break;
  }
  return 0.5;
}

Value Parameter::AtUnit(double unit) const {
  if (type == ValueType::kInteger) return ToInteger(*this, unit);
  if (type == ValueType::kDiscrete) return NearestNumber(*this, unit);
  return FromUnit(scale, least, most, unit);
}

double Parameter::Count() const {
  switch (type) {
    case ValueType::kInteger:
      return static_cast<double>(most_integer) - static_cast<double>(least_integer) + 1;
    case ValueType::kDiscrete:
      return static_cast<double>(numbers.size());
    case ValueType::kCategorical:
      return static_cast<double>(categories.size());
    case ValueType::kDouble:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

std::optional<Value> Parameter::Read(std::string_view text) const {
  std::optional<Value> value;
  if (type == ValueType::kCategorical) {
    value = std::string(text);
  } else if (type == ValueType::kInteger) {
    if (const auto number = NumberOf<int64_t>(text)) value = *number;
  } else if (const auto number = NumberOf<double>(text)) {
    value = *number;
  }
  if (value && !Has(*value)) return std::nullopt;
  return value;
}

}  // namespace caip::tuning
