/** A file name that is safe on every file system and in every address. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/
const PREFIX_CHARACTERS = /^[A-Za-z0-9._/-]*$/
const MAX_SEGMENTS = 16
/** S3 allows 1,024 together with the prefix of the settings. */
const MAX_LENGTH = 512

/** Returns whether text can be the name of a file or a folder of the store. */
export const isSegment = (text: string): boolean => SEGMENT.test(text)

/** Returns whether text is a valid key. */
export function isKey(key: string): boolean {
  const segments = key.split('/')
  return key.length <= MAX_LENGTH && segments.length <= MAX_SEGMENTS && segments.every(isSegment)
}

/**
 * Rejects keys that could lead out of the store, or that not every store accepts.
 * @throws Error
 */
export function requireKey(key: string): void {
  if (!isKey(key)) throw new Error(`${shown(key)} is not a key of an object.`)
}

/**
 * Rejects a prefix that no key can begin with.
 * @throws Error
 */
export function requirePrefix(prefix: string): void {
  const folders = prefix.split('/').slice(0, -1)
  if (prefix.length <= MAX_LENGTH && PREFIX_CHARACTERS.test(prefix) && folders.every(isSegment)) return
  throw new Error(`${shown(prefix)} is not a prefix of keys.`)
}

const shown = (text: string): string => JSON.stringify(text.slice(0, MAX_LENGTH))
