"""Studies of kind ``relevance``: judges grade or rank the candidates of queries."""
