#include "tuning/space.h"

#include <algorithm>
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

// Counts the points of the parameter and its descendants.
double Space::CountBelow(size_t parameter) const {
  const Parameter& top = parameters_[parameter];
  const bool has_children = std::any_of(parameters_.begin(), parameters_.end(),
                                        [&](const Parameter& p) { return p.parent == parameter; });
  if (!has_children || top.type == ValueType::kDouble) return top.Count();
  double count = top.Count();
  // A value counts as often as its children have points.
  std::vector<Value> calling;
  for (const Parameter& child : parameters_) {
    if (child.parent != parameter) continue;
    for (const Value& value : child.parent_values) {
      if (top.Has(value) && !Contains(calling, value)) calling.push_back(value);
    }
  }
  for (const Value& value : calling) {
    double below = 1;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& child = parameters_[i];
      if (child.parent == parameter && Contains(child.parent_values, value)) below *= CountBelow(i);
    }
    count += below - 1;
  }
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
  std::set<std::string> told;  // the children of a wrong value cannot be checked
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (parameter.parent && told.contains(parameters_[*parameter.parent].name)) {
      told.insert(parameter.name);
      continue;
    }
    if (!IsActive(i, point)) continue;
    const auto text = texts.find(parameter.name);
    const bool given = text != texts.end();
    if (const auto value = given ? parameter.Read(text->second) : std::nullopt) {
      point.emplace(parameter.name, *value);
      continue;
    }
    told.insert(parameter.name);
    const Error error = given ? errors::ValueOutside(parameter.name, text->second)
                              : errors::ValueMissing(parameter.name);
    wrong.push_back({parameter.name, error.message});
  }
  for (const auto& [name, text] : texts) {
    if (point.contains(name) || told.contains(name)) continue;
    wrong.push_back({name, errors::ParameterNotActive(name).message});
  }
  if (wrong.empty()) return point;
  return errors::ValuesInvalid(std::move(wrong));
}

}  // namespace caip::tuning
