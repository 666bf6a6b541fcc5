export const GLYPH_COLUMNS = 5
export const GLYPH_ROWS = 7

/**
 * The letters of the picture, which therefore needs no font of the machine: one digit of base 32 a row, whose five bits
 * are the dots from left to right.
 */
const glyphs: Record<string, string> = {
  A: 'ehhvhhh',
  B: 'uhhuhhu',
  C: 'ehggghe',
  D: 'uhhhhhu',
  E: 'vgguggv',
  F: 'vgguggg',
  G: 'ehgnhhf',
  H: 'hhhvhhh',
  I: 'e44444e',
  J: '72222ic',
  K: 'hikokih',
  L: 'ggggggv',
  M: 'hrllhhh',
  N: 'hhpljhh',
  O: 'ehhhhhe',
  P: 'uhhuggg',
  Q: 'ehhhlid',
  R: 'uhhukih',
  S: 'fgge11u',
  T: 'v444444',
  U: 'hhhhhhe',
  V: 'hhhhha4',
  W: 'hhhllla',
  X: 'hha4ahh',
  Y: 'hhha444',
  Z: 'v1248gv',
  0: 'ehjlphe',
  1: '4c4444e',
  2: 'eh1248v',
  3: 'v2421he',
  4: '26aiv22',
  5: 'vgu11he',
  6: '68guhhe',
  7: 'v124888',
  8: 'ehhehhe',
  9: 'ehhf12c',
  ' ': '0000000',
  ':': '0cc0cc0',
  '.': '00000cc',
  '-': '000v000',
  '/': '01248g0',
  '?': 'eh12404',
}
const dots = new Map(
  Object.entries(glyphs).map(([letter, rows]) => [letter, [...rows].map((row) => Number.parseInt(row, 32))]),
)
const unknown = dots.get('?') as number[]

/** Returns the rows of a letter, from the top; the bits of each are its dots. Lower case is drawn as upper case. */
export function glyphOf(letter: string): readonly number[] {
  // An accented letter is drawn without its accent.
  const plain = letter.normalize('NFD').charAt(0).toUpperCase()
  return dots.get(plain) ?? unknown
}
