"""PyTorch's DistributedDataParallel over gloo, with its default options; a machine is lost in the middle of training."""

import os
import unittest

import frameworks
import support


@unittest.skipUnless(os.environ.get('CAIP_TEST_LARGE'), 'PyTorch takes 5.4 GB; CAIP_TEST_LARGE=1 runs its tests')
class DistributedDataParallel(frameworks.FrameworkTest):
    """A chief and two workers. The package of PyTorch has the libraries of CUDA, too, and so is large."""

    name, requirements, gigabytes = 'torch', ('torch', 'numpy', 'google-cloud-storage'), 12

    def test_resumes_as_if_no_worker_had_been_lost(self):
        self.assert_passes('torch_ddp_lost_worker')

    def test_resumes_as_if_the_chief_had_not_been_lost(self):
        self.assert_passes('torch_ddp_lost_chief')

    def test_fails_where_the_job_is_not_rescheduled(self):
        self.assert_passes('torch_ddp_not_rescheduled')


if __name__ == '__main__':
    support.main()
