"""Answer from records: the fields, dated entries and opening hours that a question names."""
