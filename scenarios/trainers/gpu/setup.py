"""A package like those that users submit. The runtime version has the frameworks."""
from setuptools import find_packages, setup

setup(name="gpu", version="1.0", packages=find_packages())
