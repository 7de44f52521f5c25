"""Asynchronous parameter-server training of a digit classifier, standard library only."""
