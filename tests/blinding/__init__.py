"""Contents of solutions for judges: texts, images, and pages of PDFs."""
