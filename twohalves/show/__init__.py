"""What a reader sees: sentences with numbers in them, tables, pictures, the calculator."""
