"""Small real data sets, and simulated ones that are named so, on which the demo and the tests run.

Installed, this folder is the package ``annotate.samples``; in a checkout it lies beside ``annotate``. Either way
``annotate.sample_files`` finds it by path, and each set says in its SOURCE.txt where it comes from.
"""
