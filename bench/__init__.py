"""How fast is it, beside what others use? `python -m bench` measures and prints it."""
