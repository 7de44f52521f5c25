from setuptools import find_packages, setup

setup(name="digits_tuning", version="0.1", packages=find_packages(),
      install_requires=["scikit-learn", "cloudml-hypertune"])
