/** The bytes of a megabyte in the REST API (SI). */
export const BYTES_PER_MB = 1_000_000
