"""The PostgreSQL engine: the tables of a store in the schema `quire` of a database."""
