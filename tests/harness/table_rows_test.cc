// Rows of tables in texts: which ones a restart repeats, cuts or loses.

#include "harness/explorer/table_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace caip::harness {
namespace {

RowDamage Damage(const std::string& baseline, const std::string& found,
                 const std::string& early = "", bool has_peers = false) {
  return FindRowDamage({baseline, early, found, has_peers});
}

struct Form {
  std::string header;
  std::vector<std::string> rows;
};

const std::vector<Form> kForms = {
    {"",
     {R"({"step": 1, "loss": 9.0})", R"({"step": 2, "loss": -5.7e-05})",
      R"({"step": 3, "loss": 3.7})"}},
    {"", {"[1, 9.0]", "[2, 5.75]", "[3, 3.7]"}},
    {"step,loss\n", {"1,9.000000", "2,5.724952", "3,3.738281"}},
    {"# a table\nstep;set;loss\n", {"1;eval;9.0", "2;eval;5.7", "3;eval;3.7", "4;eval;3.1"}},
    {"", {"1\t9.0", "2\t5.7", "3\t-3.7"}},
    {"step loss\n", {"1 9.0", "2  5.75", "3 3.7"}}};

std::string TextOfRows(const Form& form, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += form.rows[i] + "\n";
  return text;
}

std::string Whole(const Form& form) { return form.header + TextOfRows(form, 0, form.rows.size()); }

TEST(TableRows, AreRepeatedByATrainerThatAppendsThemAgain) {
  for (const Form& form : kForms) {
    const std::string again = TextOfRows(form, 1, form.rows.size());
    EXPECT_EQ(Damage(Whole(form), Whole(form)), RowDamage::kNone) << form.rows[0];
    EXPECT_EQ(Damage(Whole(form), Whole(form) + again), RowDamage::kRepeated) << form.rows[0];
    EXPECT_EQ(Damage(Whole(form), Whole(form) + form.header + again), RowDamage::kRepeated);
  }
}

TEST(TableRows, AreCutByALossInTheMiddleOfAWrite) {
  for (const Form& form : kForms) {
    const std::string cut = form.rows[0].substr(0, form.rows[0].size() - 2);
    EXPECT_EQ(Damage(Whole(form), form.header + cut + Whole(form)), RowDamage::kCut) << cut;
    EXPECT_EQ(Damage(Whole(form), form.header + cut + TextOfRows(form, 0, form.rows.size())),
              RowDamage::kCut);
  }
  const Form& json = kForms[0];
  EXPECT_EQ(Damage(Whole(json), Whole(json) + R"({"step": 3, "lo)"), RowDamage::kCut);
}

TEST(TableRows, AreMissingIfARestartBeginsTheTableAgain) {
  for (const Form& form : kForms) {
    const std::string rest = form.header + TextOfRows(form, 1, form.rows.size());
    EXPECT_EQ(Damage(Whole(form), rest), RowDamage::kMissing) << form.rows[0];
    EXPECT_EQ(Damage(Whole(form), ""), RowDamage::kMissing);
  }
}

TEST(TableRows, MayHaveAHeaderForEachStart) {
  for (const Form& form : kForms) {
    const std::string found =
        form.header + TextOfRows(form, 0, 2) + form.header + TextOfRows(form, 2, form.rows.size());
    EXPECT_EQ(Damage(Whole(form), found), RowDamage::kNone) << form.rows[0];
  }
}

TEST(TableRows, OfAnEarlyRestartAreWhatEachStartWrites) {
  const std::string rows = "layer,1,128\nlayer,2,64\n";
  const std::string steps = "step,1,0.5\nstep,2,0.25\n";
  EXPECT_EQ(
      Damage(rows + steps, rows + "step,1,0.5\n" + rows + "step,2,0.25\n", rows + rows + steps),
      RowDamage::kNone);
  EXPECT_EQ(Damage(rows + steps, rows + steps + rows + steps, rows + rows + steps),
            RowDamage::kRepeated);
  // The early restart has repeated the first row: the others are judged.
  EXPECT_EQ(Damage("1,9\n2,5\n3,4\n", "1,9\n2,5\n2,5\n3,4\n", "1,9\n1,9\n2,5\n3,4\n"),
            RowDamage::kRepeated);
}

TEST(TableRows, OfAnyReplicaMayBeWhatItsStartWrites) {
  const std::string starts = "worker,0\nworker,1\n";
  const std::string early = "worker,0\nworker,1\nworker,0\n";
  const std::string found = "worker,0\nworker,1\nworker,1\n";
  EXPECT_EQ(Damage(starts, found, early, true), RowDamage::kNone);
  EXPECT_EQ(Damage(starts, found, early, false), RowDamage::kRepeated);
}

TEST(TableRows, WithOtherValuesAreNotJudged) {
  EXPECT_EQ(Damage("1,0\n2,0\n3,1\n", "1,0\n2,0\n2,1\n3,1\n"), RowDamage::kNone) << "durations";
  EXPECT_EQ(Damage("step,1\nstep,2\nstart,1\n", "step,1\nstep,2\nstart,1\nstart,2\n"),
            RowDamage::kNone);
  EXPECT_EQ(Damage("0 0\n0 0\n1 0\n", "0 0\n0 0\n0 0\n"), RowDamage::kNone) << "a matrix";
  EXPECT_EQ(Damage("7,0.0\n17,0.0\n", "7,0.0\n17,0.0\n27,0.0\n"), RowDamage::kNone)
      << "a row that ends like another one is not joined with it";
}

TEST(TableRows, AreNoneInALog) {
  const std::vector<std::string> logs = {
      "starting\nstep 1 loss=0.5\nstep 2 loss=0.25\ndone\n",
      "2026-01-31 08:30:12,500 INFO step 1\n2026-01-31 08:30:12,501 INFO step 2\n",
      "1,0.5\n2,0.25\nsaved\n",
      "begin\nhost\nseed\n1,0.5\n2,0.25\n",
      "1\n2\n3\n",
      "",
      "\xff,1\n\xff,2\n"};
  for (const std::string& log : logs) {
    EXPECT_EQ(Damage(log, log + log), RowDamage::kNone) << log;
    EXPECT_EQ(Damage(log, log.substr(0, log.size() / 2) + log), RowDamage::kNone) << log;
  }
  EXPECT_EQ(Damage("step,1\n", "step,1\nstep,1\n"), RowDamage::kNone) << "a line for each start";
}

}  // namespace
}  // namespace caip::harness
