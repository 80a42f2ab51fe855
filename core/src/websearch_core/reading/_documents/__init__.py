"""What is no page of HTML: PDF, Office, pictures, feeds, tables, text."""
