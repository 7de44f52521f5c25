#include "harness/check/course.h"

namespace caip::harness {

CourseRunKind PlainRun() {
  return {"plain",
          "The job as it was given, installed from its archive, with nothing in its way.",
          {},
          AsGiven};
}

}  // namespace caip::harness
