"""Many tasks at once, arms compared at equal allowance, statistics and reports."""
