/** Most levels of objects and arrays, one within the other, that a frame may have; the frame itself is the first. */
export const MAX_FRAME_DEPTH = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Tells whether a JSON text is nested deeper than `limit`, before it is parsed: deep values end programs that walk
 * them recursively, as JSON.stringify does. Reads the text once; text that is no JSON is left to the parser.
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

/** Tells the same of a value that has been parsed already. Recursion ends at the limit. */
export function isValueNestedTooDeep(value: unknown, limit: number = MAX_FRAME_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  // Bytes hold no further values, but very many entries.
  if (ArrayBuffer.isView(value)) return false
  for (const entry of Object.values(value)) if (isValueNestedTooDeep(entry, limit - 1)) return true
  return false
}

/** Returns the place of the quote that ends the string that begins at `start`; -1 when the string does not end. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** Tells whether an odd number of backslashes stands before the character. */
function isEscaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (index - before) % 2 === 0
}
