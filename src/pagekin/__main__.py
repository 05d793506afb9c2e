"""`python -m pagekin`."""

from pagekin.cli import main

if __name__ == "__main__":
    main()
