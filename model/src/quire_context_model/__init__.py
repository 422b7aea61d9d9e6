"""The embedding model of Quire, as data: `model.onnx`, `tokenizer.json`, and its card `README.md`.

Nothing here is imported by Quire, which reads the files and checks their hashes.
"""
