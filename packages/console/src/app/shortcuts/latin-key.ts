const LETTER = /^Key([A-Z])$/
const LAST_ASCII = '\u007f'

/**
 * Returns the key of a shortcut in lower case: what it types, or for a layout without Latin letters, such as the Cyrillic one,
 * the letter that an English keyboard has there.
 */
export function latinKey({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): string {
  const letter = key.length === 1 && key > LAST_ASCII ? LETTER.exec(code)?.[1] : undefined
  return (letter ?? key).toLowerCase()
}
