"""PyTorch's DistributedDataParallel over gloo, with its default options; a machine is lost in the middle of training."""

import os
import subprocess
import unittest

import frameworks
import support

# The Python of the distribution, for which Debian and Ubuntu have PyTorch without the libraries of CUDA.
DISTRIBUTION = '/usr/bin/python3'
FIND_TORCH = """import numpy, torch.distributed, typing_extensions
torch.distributed.ProcessGroupGloo
print(*torch.__path__, *numpy.__path__, typing_extensions.__file__, sep='\\n')"""


class DistributedDataParallel(frameworks.FrameworkTest):
    """A chief and two workers. PyTorch is that of the distribution if it is installed, else pip's with CAIP_TEST_LARGE=1:
    that has the libraries of CUDA, too, 5.4 GB."""

    name, requirements, gigabytes = 'torch', ('torch', 'numpy', 'google-cloud-storage'), 12

    @classmethod
    def environment(cls):
        if os.environ.get('CAIP_TEST_LARGE'):
            return super().environment()
        found = subprocess.run([DISTRIBUTION, '-c', FIND_TORCH], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            raise unittest.SkipTest(f'{DISTRIBUTION} has no PyTorch (Debian: python3-torch); CAIP_TEST_LARGE=1 installs it with pip')
        cls.elsewhere = found.stdout.split()
        return support.virtualenv('torch-of-distribution', '--ignore-installed', 'google-cloud-storage', python=DISTRIBUTION,
                                  system_packages=True)

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
