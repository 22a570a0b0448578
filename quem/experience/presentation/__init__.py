"""What people see of an analysis: summary, tables, figures, the parts of the report."""
