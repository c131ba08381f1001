"""The command line: tables, bounds and models as files, over the estimators.

Nothing heavy is imported until a command runs, so that help appears at once.
"""

from diptych.cli.app import main

__all__ = ["main"]
