"""The page: questions, answers and sources in a browser, rendered here, with a little script that saves loading."""
