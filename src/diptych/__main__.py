"""``python -m diptych`` is the command ``diptych``."""

from diptych.cli import main

if __name__ == "__main__":
    main()
