/** Bytes of a megabyte as the REST API counts data, by the SI. */
export const BYTES_PER_MB = 1_000_000
