-- A space that another model's replaced goes piece by piece.
ALTER TABLE embedding_spaces ADD COLUMN retired_at REAL;
