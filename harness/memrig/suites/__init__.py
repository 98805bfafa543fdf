"""A suite turns a dataset or a seed into scenarios."""
