// The rules of HyperparameterSpec: docs/service/hyperparameter-tuning.md, section 8.

#include <cmath>
#include <limits>

#include "tests/ml/validate_rules.h"

namespace caip::ml {
namespace {

// Which parameter of ATuningJob has which type.
constexpr size_t kInteger = 0;
constexpr size_t kDiscrete = 1;
constexpr size_t kCategorical = 2;
constexpr size_t kDouble = 3;

HyperparameterSpec& Spec(TrainingInput& input) { return *input.hyperparameters; }

auto With(size_t index, std::function<void(ParameterSpec&)> change) {
  return [=](TrainingInput& input) { change(Spec(input).params[index]); };
}

TEST(ValidateTuning, ParametersHaveNamesAndTypes) {
  const BrokenRule rows[] = {
      {"at least one", [](TrainingInput& input) { Spec(input).params.clear(); },
       "hyperparameters.params", "at least one parameter"},
      {"a name", With(kInteger, [](auto& p) { p.parameter_name = ""; }),
       "hyperparameters.params[0].parameter_name", "is illegal"},
      {"usable as a flag", With(kDouble, [](auto& p) { p.parameter_name = "learning rate"; }),
       "hyperparameters.params[3].parameter_name", "becomes the flag --NAME"},
      {"unique", With(kDouble, [](auto& p) { p.parameter_name = "hidden1"; }),
       "hyperparameters.params[3].parameter_name", "'hidden1' is used twice"},
      {"a type", With(kInteger, [](auto& p) { p.type = ""; }), "hyperparameters.params[0].type",
       "The field is required"},
      {"a specified type", With(kDouble, [](auto& p) { p.type = "PARAMETER_TYPE_UNSPECIFIED"; }),
       "hyperparameters.params[3].type", "DOUBLE, INTEGER, CATEGORICAL or DISCRETE"},
  };
  ExpectEachReported(ATuningJob(), rows);
}

TEST(ValidateTuning, NumbersHaveBounds) {
  const double infinity = std::numeric_limits<double>::infinity();
  const BrokenRule rows[] = {
      {"INTEGER bounds", With(kInteger, [](auto& p) { p.min_value = p.max_value = {}; }),
       "hyperparameters.params[0].min_value", "of type INTEGER needs min_value or max_value"},
      {"DOUBLE bounds", With(kDouble, [](auto& p) { p.min_value = p.max_value = {}; }),
       "hyperparameters.params[3].min_value", "of type DOUBLE needs min_value or max_value"},
      {"a missing maximum is 0", With(kDouble, [](auto& p) { p.max_value.reset(); }),
       "hyperparameters.params[3].max_value",
       "The maximum 0.0, because the field is missing, is less than the minimum 0.001"},
      {"a missing minimum is 0", With(kDouble, [](auto& p) { p.min_value.reset(); }),
       "hyperparameters.params[3].scale_type", "the least is 0.0"},
      {"integral bounds", With(kInteger, [](auto& p) { p.max_value = 400.5; }),
       "hyperparameters.params[0].max_value", "400.5 is not a 64-bit integer"},
      {"bounds of 64 bits", With(kInteger, [](auto& p) { p.max_value = 1e30; }),
       "hyperparameters.params[0].max_value", "is not a 64-bit integer"},
      {"in order", With(kInteger, [](auto& p) { p.min_value = 401; }),
       "hyperparameters.params[0].max_value", "The maximum 400.0 is less than the minimum 401.0"},
      {"finite minimum", With(kDouble, [](auto& p) { p.min_value = std::nan(""); }),
       "hyperparameters.params[3].min_value", "finite"},
      {"finite maximum", With(kDouble, [=](auto& p) { p.max_value = infinity; }),
       "hyperparameters.params[3].max_value", "finite"},
      {"a log scale is positive", With(kDouble, [](auto& p) { p.min_value = 0; }),
       "hyperparameters.params[3].scale_type", "UNIT_LOG_SCALE needs strictly positive values"},
      {"the reverse one, too",
       With(kInteger,
            [](auto& p) {
              p.scale_type = "UNIT_REVERSE_LOG_SCALE";
              p.min_value = -1;
            }),
       "hyperparameters.params[0].scale_type", "the least is -1.0"},
      {"no lists", With(kDouble, [](auto& p) { p.discrete_values = {1}; }),
       "hyperparameters.params[3].discrete_values",
       "must not be set for a parameter of type DOUBLE"},
      {"no categories", With(kInteger, [](auto& p) { p.categorical_values = {"a"}; }),
       "hyperparameters.params[0].categorical_values", "must not be set"},
  };
  ExpectEachReported(ATuningJob(), rows);
  const AllowedUse fine[] = {
      {"one value", With(kInteger, [](auto& p) { p.min_value = 400; })},
      {"zero on a linear scale", With(kInteger, [](auto& p) { p.min_value = 0; })},
      {"no scale", With(kDouble, [](auto& p) { p.scale_type = "NONE"; })},
      {"no minimum of an INTEGER", With(kInteger, [](auto& p) { p.min_value.reset(); })},
      {"no minimum of a DOUBLE", With(kDouble,
                                      [](auto& p) {
                                        p.min_value.reset();
                                        p.scale_type = "UNIT_LINEAR_SCALE";
                                      })},
      {"no maximum above a negative minimum", With(kDouble,
                                                   [](auto& p) {
                                                     p.min_value = -1;
                                                     p.max_value.reset();
                                                     p.scale_type.clear();
                                                   })},
  };
  ExpectEachAllowed(ATuningJob(), fine);
}

TEST(ValidateTuning, CategoriesAreTexts) {
  const BrokenRule rows[] = {
      {"at least one", With(kCategorical, [](auto& p) { p.categorical_values.clear(); }),
       "hyperparameters.params[2].categorical_values", "Give at least one value"},
      {"no minimum", With(kCategorical, [](auto& p) { p.min_value = 1; }),
       "hyperparameters.params[2].min_value", "must not be set"},
      {"no maximum", With(kCategorical, [](auto& p) { p.max_value = 1; }),
       "hyperparameters.params[2].max_value", "must not be set"},
      {"no scale", With(kCategorical, [](auto& p) { p.scale_type = "UNIT_LINEAR_SCALE"; }),
       "hyperparameters.params[2].scale_type", "must not be set"},
      {"no numbers", With(kCategorical, [](auto& p) { p.discrete_values = {1}; }),
       "hyperparameters.params[2].discrete_values", "must not be set"},
      {"no NUL", With(kCategorical, [](auto& p) { p.categorical_values = {std::string(1, 0)}; }),
       "hyperparameters.params[2].categorical_values", "NUL"},
      {"at most 1000", With(kCategorical, [](auto& p) { p.categorical_values.assign(1001, "c"); }),
       "hyperparameters.params[2].categorical_values", "1001 values. At most 1000"},
  };
  ExpectEachReported(ATuningJob(), rows);
  const AllowedUse fine[] = {
      {"1000", With(kCategorical, [](auto& p) { p.categorical_values.assign(1000, "c"); })}};
  ExpectEachAllowed(ATuningJob(), fine);
}

TEST(ValidateTuning, DiscreteValuesIncrease) {
  const auto values = [](std::vector<double> list) {
    return With(kDiscrete, [list](auto& p) { p.discrete_values = list; });
  };
  std::vector<double> thousand;
  for (int i = 0; i < 1000; ++i) thousand.push_back(i);
  std::vector<double> more = thousand;
  more.push_back(1000);
  const BrokenRule rows[] = {
      {"at least one", values({}), "hyperparameters.params[1].discrete_values",
       "Give at least one value"},
      {"sorted", values({1, 3, 2}), "hyperparameters.params[1].discrete_values",
       "value 2 is not greater than the one before it"},
      {"strictly", values({1, 1}), "hyperparameters.params[1].discrete_values",
       "strictly increasing"},
      {"finite", values({1, std::nan("")}), "hyperparameters.params[1].discrete_values",
       "Value 1 is not a finite number"},
      {"at most 1000", values(more), "hyperparameters.params[1].discrete_values",
       "1001 values. At most 1000"},
      {"no categories", With(kDiscrete, [](auto& p) { p.categorical_values = {"a"}; }),
       "hyperparameters.params[1].categorical_values", "must not be set"},
      {"positive on a log scale",
       With(kDiscrete,
            [](auto& p) {
              p.discrete_values = {0, 1};
              p.scale_type = "UNIT_LOG_SCALE";
            }),
       "hyperparameters.params[1].scale_type", "the least is 0.0"},
  };
  ExpectEachReported(ATuningJob(), rows);
  const AllowedUse fine[] = {
      {"1000", values(thousand)},
      {"bounds are ignored", With(kDiscrete, [](auto& p) { p.min_value = 7; })},
  };
  ExpectEachAllowed(ATuningJob(), fine);
}

TEST(ValidateTuning, TrialsAndAlgorithms) {
  const BrokenRule rows[] = {
      {"maxTrials", [](TrainingInput& input) { Spec(input).max_trials = 0; },
       "hyperparameters.max_trials", "It must be 1 or more"},
      {"maxParallelTrials", [](TrainingInput& input) { Spec(input).max_parallel_trials = 0; },
       "hyperparameters.max_parallel_trials", "It must be 1 or more"},
      {"at most ten thousand at a time",
       [](TrainingInput& input) {
         Spec(input).max_trials = 20000;
         Spec(input).max_parallel_trials = 10001;
       },
       "hyperparameters.max_parallel_trials", "one machine emulates 10000 at the most"},
      {"maxFailedTrials", [](TrainingInput& input) { Spec(input).max_failed_trials = -1; },
       "hyperparameters.max_failed_trials", "is negative"},
      {"a metric tag without NUL",
       [](TrainingInput& input) {
         Spec(input).hyperparameter_metric_tag = std::string("loss\0", 5);
       },
       "hyperparameters.hyperparameter_metric_tag", "NUL"},
      {"resumePreviousJobId",
       [](TrainingInput& input) { Spec(input).resume_previous_job_id = "a-b"; },
       "hyperparameters.resume_previous_job_id", "'a-b' is not a valid job id"},
      {"a grid has no DOUBLE", [](TrainingInput& input) { Spec(input).algorithm = "GRID_SEARCH"; },
       "hyperparameters.params[3].type", "no grid for parameter 'learning_rate'"},
      {"population based training is not documented",
       [](TrainingInput& input) { Spec(input).algorithm = "POPULATION_BASED_TRAINING"; },
       "hyperparameters.algorithm", "is not emulated"},
  };
  ExpectEachReported(ATuningJob(), rows);
  const AllowedUse fine[] = {
      {"goal unspecified",
       [](TrainingInput& input) { Spec(input).goal = "GOAL_TYPE_UNSPECIFIED"; }},
      {"random search", [](TrainingInput& input) { Spec(input).algorithm = "RANDOM_SEARCH"; }},
      {"grid without DOUBLE",
       [](TrainingInput& input) {
         Spec(input).algorithm = "GRID_SEARCH";
         Spec(input).params.pop_back();
       }},
      {"resume", [](TrainingInput& input) { Spec(input).resume_previous_job_id = "earlier_1"; }},
      {"more at a time than in all",
       [](TrainingInput& input) { Spec(input).max_parallel_trials = 31; }},
      {"more at a time than the default of maxTrials",
       [](TrainingInput& input) { Spec(input).max_trials.reset(); }},
      {"defaults",
       [](TrainingInput& input) {
         Spec(input).max_trials.reset();
         Spec(input).max_parallel_trials.reset();
       }},
  };
  ExpectEachAllowed(ATuningJob(), fine);
}

}  // namespace
}  // namespace caip::ml
