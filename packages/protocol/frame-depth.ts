/** Largest nesting depth of objects and arrays in a frame. The frame itself is level 1. */
export const MAX_FRAME_DEPTH = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COLON = 0x3a
const COMMA = 0x2c

/**
 * Returns whether a JSON text is nested deeper than `limit`, before it is parsed. Recursive functions such as
 * JSON.stringify overflow the stack on deep values. Reads the text once; the parser rejects invalid JSON.
 */
export function isNestedTooDeep(text: string, limit: number = MAX_FRAME_DEPTH): boolean {
  if (text.length <= limit) return false
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = endOfString(text, index)
      if (index < 0) return false
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (++depth > limit) return true
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return false
}

/**
 * Returns whether a JSON text has more names in objects, or more entries in objects and arrays, than allowed, before it is parsed.
 * Reads the text once, at most until the first that is too many; the parser rejects invalid JSON.
 */
export function hasTooManyEntries(text: string, limits: { names: number; entries: number }): boolean {
  if (text.length <= limits.names) return false
  let names = 0
  let commas = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = endOfString(text, index)
      if (index < 0) return false
    } else if (code === COLON) {
      if (++names > limits.names) return true
    } else if (code === COMMA && ++commas >= limits.entries) return true
  }
  return false
}

/** Returns whether a parsed value is nested deeper than `limit`. Recursion ends at the limit. */
export function isValueNestedTooDeep(value: unknown, limit: number = MAX_FRAME_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  // A byte array has very many entries, and none of them is nested.
  if (ArrayBuffer.isView(value)) return false
  for (const entry of Object.values(value)) if (isValueNestedTooDeep(entry, limit - 1)) return true
  return false
}

/** Returns the index of the closing quote of the string that begins at `start`; -1 when the string does not end. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** Returns whether an odd number of backslashes precedes the character. */
function isEscaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (index - before) % 2 === 0
}
