#pragma once
// The reports of `caip explore` for CI and for programs.

#include <string>
#include <string_view>

#include "base/json.h"
#include "emulator/explore/exploring.h"

namespace caip::explore {

/// What a report says besides the results of the exploration.
struct ReportHead {
  std::string subject;  // the file of the explored scenario
  std::string version;  // of caip
  std::string flags;    // of the command, which `scenario run` needs to repeat a finding
  /// What the user of a job in words can do if its lines of steps are not recognized; "" for
  /// scenarios.
  std::string step_remedy = {};
};

/// A finding that no run alone can judge is not sure.
bool IsSure(const ExploreFinding& finding);

/// The text on one line: a value may have line ends, which break the layout of a report.
std::string OneLine(std::string_view text);

/// The command that repeats a finding.
std::string ReplayOf(const ExploreFinding& finding, const ReportHead& head);

/// How the job of a finding ends when it is sent again, if that is known.
std::string DescribeOnceMore(const ExploreFinding& finding);

/// How many restarts were not tried, because those like them ended by a limit.
size_t CountLeftOut(const ExploreReport& report);
/// How many points like those of the finding were not tried: "16 points like it (...)". "": none.
std::string DescribeLeftOut(const ExploreFinding& finding);
/// Why not all restarts were tried; "" all were.
std::string WhyNotAll(const ExploreReport& report);

/// docs/explore-report.schema.json has the schema.
Json JsonReport(const ExploreReport& report, const ReportHead& head);
/// JUnit's XML: a test case for each finding, and one for the exploration.
std::string JunitReport(const ExploreReport& report, const ReportHead& head);
/// SARIF 2.1.0, for code scanning. A result's location is the scenario of the finding.
Json SarifReport(const ExploreReport& report, const ReportHead& head);

}  // namespace caip::explore
