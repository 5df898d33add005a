"""What both benchmarks need: the peers' environments, long-lived measured processes, medians, and the page."""
