"""What people see of a comparison: summary, tables, figures, the parts of the report."""
