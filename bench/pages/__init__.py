"""Does the page help? Questions, labelled passages, and what today's pages show of them."""
