"""``python -m broadstream`` is the ``broadstream`` command."""

from _broadstream_command import main

if __name__ == "__main__":
    main()
