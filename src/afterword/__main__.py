"""`python -m afterword`, and the command `afterword`: an interruption while it loads is no traceback."""

import sys


def main() -> None:
    """Runs the command line and exits."""
    try:
        from afterword.cli.main import main as run_and_exit

        run_and_exit()
    except KeyboardInterrupt:
        sys.stderr.write("afterword: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
