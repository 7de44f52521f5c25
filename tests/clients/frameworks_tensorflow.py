"""TensorFlow's strategies for several machines, with their default options; a machine is lost in the middle of training."""

import frameworks
import support


class TensorFlowTest(frameworks.FrameworkTest):
    """The last releases in which Keras trains on several workers."""

    name, requirements, gigabytes = 'tensorflow-keras2', ('tensorflow-cpu>=2.12,<2.16',), 2


class MultiWorkerMirrored(TensorFlowTest):
    """A chief and two workers."""

    def test_resumes_as_if_no_worker_had_been_lost(self):
        self.assert_passes('tf_mirrored_lost_worker')

    @frameworks.large
    def test_resumes_as_if_the_chief_had_not_been_lost(self):
        self.assert_passes('tf_mirrored_lost_chief')

    @frameworks.large
    def test_fails_where_the_job_is_not_rescheduled(self):
        self.assert_passes('tf_mirrored_not_rescheduled')

    @frameworks.large
    def test_resumes_in_images_too(self):
        self.assert_passes_from_image('tf_mirrored_lost_worker', 'trainer.mirrored')


class NewTrainer(TensorFlowTest):
    """As `caip init keras` writes it."""

    def test_survives_the_loss_of_its_machine(self):
        self.assert_new_trainer_works('keras')


class ParameterServer(TensorFlowTest):
    """A chief, a worker, a parameter server and an evaluator."""

    @frameworks.large
    def test_trains_and_evaluates(self):
        self.assert_passes('tf_parameter_server')

    @frameworks.large
    def test_replaces_a_lost_worker_by_itself(self):
        self.assert_passes('tf_parameter_server_lost_worker')

    @frameworks.large
    def test_resumes_after_the_loss_of_the_chief(self):
        self.assert_passes('tf_parameter_server_lost_chief')

    @frameworks.large
    def test_replaces_a_lost_worker_in_images_too(self):
        # TensorFlow logs the recovery with a severity that Python shows only where the service's runner sets it.
        self.assert_passes_from_image('tf_parameter_server_lost_worker', 'trainer.parameter_server', 'servers', """
expect:
  log:
    - {match: "target: grpc://cmle-training-worker-[0-9a-f]+-0:2222", replica: worker-0, count: 2}
    - {match: "evaluated: loss", replica: evaluator-0, count: 1..}
""")

    def test_resumes_after_the_loss_of_the_parameter_server(self):
        self.assert_passes('tf_parameter_server_lost_ps')


if __name__ == '__main__':
    support.main()
