"""XGBoost with its own tracker and default options; a machine is lost in the middle of training."""

import frameworks
import support


class Tracker(frameworks.FrameworkTest):
    """A chief, which runs the tracker, and two workers."""

    name, requirements = 'xgboost', ('xgboost-cpu', 'scikit-learn', 'google-cloud-storage')

    def test_resumes_as_if_no_worker_had_been_lost(self):
        self.assert_passes('xgboost_tracker_lost_worker')

    @frameworks.large
    def test_resumes_as_if_the_chief_had_not_been_lost(self):
        self.assert_passes('xgboost_tracker_lost_chief')

    @frameworks.large
    def test_fails_where_the_job_is_not_rescheduled(self):
        self.assert_passes('xgboost_tracker_not_rescheduled')

    def test_resumes_in_images_too(self):
        self.assert_passes_from_image('xgboost_tracker_lost_worker', 'trainer.boosting')


if __name__ == '__main__':
    support.main()
