"""PyTorch's DistributedDataParallel over gloo, with its default options; a machine is lost in the middle of training."""

import frameworks
import support


@frameworks.large
class DistributedDataParallel(frameworks.FrameworkTest):
    """A chief and two workers. The package of PyTorch has the libraries of CUDA, too: 5.4 GB."""

    name, requirements, gigabytes = 'torch', ('torch', 'numpy', 'google-cloud-storage'), 12

    def test_resumes_as_if_no_worker_had_been_lost(self):
        self.assert_passes('torch_ddp_lost_worker')

    def test_resumes_as_if_the_chief_had_not_been_lost(self):
        self.assert_passes('torch_ddp_lost_chief')

    def test_fails_where_the_job_is_not_rescheduled(self):
        self.assert_passes('torch_ddp_not_rescheduled')

    def test_a_new_trainer_survives_the_loss_of_its_machine(self):
        self.assert_new_trainer_works('torch')

    def test_resumes_in_images_too(self):
        self.assert_passes_from_image('torch_ddp_lost_worker', 'trainer.parallel')


if __name__ == '__main__':
    support.main()
