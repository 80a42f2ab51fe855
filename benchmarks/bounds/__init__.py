"""What repeated text costs to read, wherever it stands in a document."""
