"""`python -m afterword`: the command line."""

from afterword.cli.main import main

if __name__ == "__main__":
    main()
