"""Words and values in English texts and questions: stems, dates, amounts, and words for changes."""
