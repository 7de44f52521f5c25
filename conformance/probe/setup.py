"""The package that jobs of the conformance suite run. It needs nothing but Python."""

from setuptools import setup

setup(name='caip_probe', version='1.0', packages=['caip_probe'])
