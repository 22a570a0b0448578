"""What judges receive of solutions: texts, images and pages of PDFs."""
