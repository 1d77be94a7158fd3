"""What reads the registers: results, slips, terms, names, verdicts, benchmarks; and their pages."""
