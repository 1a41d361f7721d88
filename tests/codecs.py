"""Writes the Parquet files for tests/it/columns.rs with pyarrow: one file per codec, and encrypted files, in `FOLDER`."""

import base64
import sys

import pyarrow
import pyarrow.parquet as parquet
import pyarrow.parquet.encryption as encryption


class Plain(encryption.KmsClient):
    """Stores keys without encrypting them, which is enough for files that nobody has to open."""

    def __init__(self, _config):
        encryption.KmsClient.__init__(self)

    def wrap_key(self, key, _master):
        return base64.b64encode(key)

    def unwrap_key(self, wrapped, _master):
        return base64.b64decode(wrapped)


def main(folder: str) -> None:
    texts = [f"Text {at // 2} of a file, with some words in it." for at in range(40)]
    table = pyarrow.table({"id": [f"d{at}" for at in range(40)], "text": texts, "note": ["secret"] * 40})
    for codec in ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]:
        parquet.write_table(table, f"{folder}/{codec}.parquet", compression=codec)
    factory = encryption.CryptoFactory(Plain)
    for name, keys, plain in [
        ("footer", ["text"], False),
        ("text", ["text"], True),
        ("note", ["note"], True),
    ]:
        config = encryption.EncryptionConfiguration(
            footer_key="footer", column_keys={"column": keys}, plaintext_footer=plain
        )
        properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), config)
        with parquet.ParquetWriter(f"{folder}/{name}.encrypted", table.schema, encryption_properties=properties) as writer:
            writer.write_table(table)


if __name__ == "__main__":
    main(sys.argv[1])
