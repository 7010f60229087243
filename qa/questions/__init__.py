"""Questions: what they ask for, and the forms in which texts and questions give dates, values, numbers and steps."""
