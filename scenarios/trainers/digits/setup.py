"""The source distribution that the service installs on every replica."""
from setuptools import setup

setup(
    name="digits-trainer",
    version="1.0.0",
    description="Asynchronous parameter-server training of a digit classifier",
    packages=["trainer"],
    python_requires=">=3.7",
)
