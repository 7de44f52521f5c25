#include "fakes/logging/filter/bounds.h"

#include <algorithm>

#include "base/filter_comparison.h"
#include "base/text.h"

namespace caip::logging {
namespace {

constexpr int kSeverityStep = 100;
constexpr int kSeverityMax = 800;

// Restricts the bounds to entries that also fulfil `other`.
void NarrowText(std::optional<std::string>& text, const std::optional<std::string>& other,
                bool& none) {
  if (!other) return;
  if (text && FoldCase(*text) != FoldCase(*other)) none = true;
  text = other;
}

void NarrowBounds(EntryBounds& bounds, const EntryBounds& other) {
  bounds.from = std::max(bounds.from, other.from);
  bounds.until = std::min(bounds.until, other.until);
  bounds.after_insert_id = std::max(bounds.after_insert_id, other.after_insert_id);
  bounds.severities &= other.severities;
  bounds.none = bounds.none || other.none;
  bounds.no_job_entries = bounds.no_job_entries || other.no_job_entries;
  NarrowText(bounds.job_id, other.job_id, bounds.no_job_entries);
  NarrowText(bounds.task, other.task, bounds.no_job_entries);
  NarrowText(bounds.trial, other.trial, bounds.no_job_entries);
  NarrowText(bounds.written_job_id, other.written_job_id, bounds.none);
  NarrowText(bounds.log_id, other.log_id, bounds.none);
  NarrowText(bounds.resource_type, other.resource_type, bounds.none);
  bounds.none = bounds.none || bounds.severities == 0 || bounds.from >= bounds.until;
}

// Extends the bounds to entries that fulfil `other` instead.
void WidenText(std::optional<std::string>& text, const std::optional<std::string>& other) {
  if (!text || !other || FoldCase(*text) != FoldCase(*other)) text.reset();
}

void WidenBounds(EntryBounds& bounds, const EntryBounds& other) {
  if (other.none) return;
  if (bounds.none) {
    bounds = other;
    return;
  }
  bounds.from = std::min(bounds.from, other.from);
  bounds.until = std::max(bounds.until, other.until);
  bounds.after_insert_id = std::min(bounds.after_insert_id, other.after_insert_id);
  bounds.severities |= other.severities;
  WidenText(bounds.job_id, other.job_id);
  WidenText(bounds.task, other.task);
  WidenText(bounds.trial, other.trial);
  WidenText(bounds.written_job_id, other.written_job_id);
  bounds.no_job_entries = bounds.no_job_entries && other.no_job_entries;
  WidenText(bounds.log_id, other.log_id);
  WidenText(bounds.resource_type, other.resource_type);
}

EntryBounds BoundsOfTime(const FilterComparison& comparison) {
  EntryBounds bounds;
  const Period& period = comparison.period();
  switch (comparison.op()) {
    case FilterOperator::kEqual:
    case FilterOperator::kHas:
      bounds.from = period.first;
      bounds.until = period.end;
      break;
    case FilterOperator::kGreater:
    case FilterOperator::kGreaterEqual:
      bounds.from = period.first;
      break;
    case FilterOperator::kLess:
      bounds.until = period.first;
      break;
    case FilterOperator::kLessEqual:
      bounds.until = period.first + Duration(1);
      break;
    default:
      break;
  }
  return bounds;
}

EntryBounds BoundsOfSeverity(const FilterComparison& comparison) {
  EntryBounds bounds;
  const bool is_pattern =
      comparison.op() == FilterOperator::kMatches || comparison.op() == FilterOperator::kMatchesNot;
  if (is_pattern || comparison.severity() % kSeverityStep != 0) return bounds;
  bounds.severities = 0;
  for (int number = 0; number <= kSeverityMax; number += kSeverityStep) {
    if (Holds(number, comparison.op(), comparison.severity())) {
      bounds.severities |= SeverityBit(number);
    }
  }
  bounds.none = bounds.severities == 0;
  return bounds;
}

EntryBounds BoundsOfEqual(const std::string& path, const std::string& text,
                          std::string_view service) {
  EntryBounds bounds;
  const std::string labels = "labels." + std::string(service);
  if (path == "resource.type") bounds.resource_type = text;
  if (path == "resource.labels.job_id") bounds.job_id = bounds.written_job_id = text;
  if (path == labels + "/job_id") bounds.job_id = text;
  if (path == "resource.labels.task_name") bounds.task = text;
  if (path == labels + "/task_name") bounds.task = text;
  if (path == labels + "/trial_id") bounds.trial = text;
  if (path == "logName") bounds.log_id = LogIdOfName(text);
  return bounds;
}

EntryBounds BoundsOfComparison(const FilterComparison& comparison, std::string_view service) {
  if (comparison.tests_presence()) return {};
  const std::string path = Join(comparison.field().path, ".");
  if (path == "timestamp") return BoundsOfTime(comparison);
  if (path == "severity") return BoundsOfSeverity(comparison);
  if (path == "insertId") {
    EntryBounds bounds;
    if (comparison.op() == FilterOperator::kGreater) bounds.after_insert_id = comparison.text();
    return bounds;
  }
  return comparison.op() == FilterOperator::kEqual ? BoundsOfEqual(path, comparison.text(), service)
                                                   : EntryBounds{};
}

// True for `labels."SERVICE/job_id":*`, which every entry of a job fulfils.
bool IsLabelOfJobs(const FilterNode& node, std::string_view service) {
  if (node.kind != FilterNode::Kind::kCompare || !node.comparison->tests_presence()) return false;
  return Join(node.comparison->field().path, ".") == "labels." + std::string(service) + "/job_id";
}

EntryBounds BoundsOfNode(const FilterNode& node, std::string_view service) {
  EntryBounds bounds;
  switch (node.kind) {
    case FilterNode::Kind::kAnd:
      for (const FilterNode& child : node.children)
        NarrowBounds(bounds, BoundsOfNode(child, service));
      return bounds;
    case FilterNode::Kind::kOr:
      bounds.none = true;
      for (const FilterNode& child : node.children)
        WidenBounds(bounds, BoundsOfNode(child, service));
      return bounds;
    case FilterNode::Kind::kCompare:
      return BoundsOfComparison(*node.comparison, service);
    case FilterNode::Kind::kNot:
      bounds.no_job_entries = IsLabelOfJobs(node.children.front(), service);
      return bounds;
    case FilterNode::Kind::kLogId:
      bounds.log_id = node.text;
      return bounds;
    default:
      return bounds;
  }
}

}  // namespace

EntryBounds EntryBounds::Of(const Filter& filter, std::string_view service) {
  return BoundsOfNode(filter.root(), service);
}

uint32_t SeverityBit(int number) {
  return uint32_t{1} << std::clamp(number / kSeverityStep, 0, kSeverityMax / kSeverityStep);
}

}  // namespace caip::logging
