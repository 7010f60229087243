"""The parts of `qa eval`: questions with known answers, scored results, measures, comparisons."""
