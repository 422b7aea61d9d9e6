"""What is a workspace made of? Pure functions from blocks to records and back."""
