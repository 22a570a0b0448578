"""How an evaluation of retrievers is shown: summary, tables, figures, report, JSON."""
