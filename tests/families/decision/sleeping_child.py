"""The program of a world that never answers."""

import sys

if __name__ == "__main__":
    sys.stdin.read()
