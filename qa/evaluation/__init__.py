"""What `qa eval` is made of: questions with known answers, judged results, measures, comparisons."""
