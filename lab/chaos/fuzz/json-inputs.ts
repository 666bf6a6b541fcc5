import type { Random } from '../random.ts'

/** Names with a meaning to JavaScript or to libraries, and names without one. */
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toJSON',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  '',
  'type',
  'data',
  'seq',
  '_placeholder',
  'num',
  'length',
  '0',
  '\\u0000',
  '\\ud800',
  'ключ',
]
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1',
  '0.5',
  '1e-400',
  '1e400',
  '-1e400',
  '1e308',
  '9007199254740991',
  '9007199254740993',
  '4294967295',
  '4294967296',
  '65535',
  '65536',
  '2147483648',
  '1e21',
  '5e-324',
  '0.1e1',
  '123456789012345678901234567890',
]
const STRINGS = [
  '""',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\u2028"',
  '"\\uffff"',
  '"💥"',
  '" "',
  '"null"',
  '"true"',
  '"emergency_stop"',
  '"00000000-0000-4000-8000-000000000000"',
  '"../../etc/passwd"',
  '"%00"',
  '"constructor"',
  '"__proto__"',
  '"\\\\\\""',
  '"2026-02-30T25:61:61Z"',
  '"\'; select 1 --"',
]
/** Depths on both sides of every limit: of the protocol, of Node's stack, of a frame. */
const DEPTHS = [1, 8, 62, 63, 64, 65, 100, 1_000, 4_200, 10_000, 20_000, 32_000]
const WIDTHS = [10, 1_000, 10_000, 30_000]
const LONG = [100, 500, 501, 4_000, 4_001, 16_000, 60_000]

/** Generates JSON as text, because serializers never write duplicate keys or unbounded numbers. */
export function createJsonInputs(random: Random) {
  const quoted = (text: string) => `"${text}"`

  function nested(): string {
    const depth = random.pick(DEPTHS)
    const inner = random.chance(0.5) ? '' : '1'
    if (random.chance(0.7)) return '['.repeat(depth) + inner + ']'.repeat(depth)
    return '{"a":'.repeat(depth) + (inner || 'null') + '}'.repeat(depth)
  }

  function wide(): string {
    const width = random.pick(WIDTHS)
    if (random.chance(0.5)) return `[${'0,'.repeat(width)}0]`
    return `{${Array.from({ length: width / 10 }, (_, index) => `"k${index}":${index}`).join()}}`
  }

  function long(): string {
    return quoted(random.pick(['x', '\\n', '\\u00e9', '💥', '\\\\']).repeat(random.pick(LONG) / 2))
  }

  function plain(): string {
    return random.pick([...NUMBERS, ...STRINGS, 'null', 'true', 'false', '[]', '{}', '[null]', '{"a":1}'])
  }

  function object(levels: number): string {
    const fields = Array.from(
      { length: random.below(5) },
      () => `${quoted(random.pick(KEYS))}:${value(levels)}`,
    )
    return `{${fields.join()}}`
  }

  function value(levels = 3): string {
    const draw = random.below(20)
    if (draw < 11 || levels === 0) return plain()
    if (draw < 13) return object(levels - 1)
    if (draw < 15) return `[${value(levels - 1)},${value(levels - 1)}]`
    if (draw < 16) return long()
    if (draw < 17) return wide()
    return nested()
  }

  /** Returns an object of these fields; replaces, omits, duplicates or adds some of them. */
  function objectLike(fields: Readonly<Record<string, string>>): string {
    const parts: string[] = []
    for (const [name, valid] of Object.entries(fields)) {
      if (random.chance(0.05)) continue
      parts.push(`${quoted(name)}:${random.chance(0.25) ? value() : valid}`)
      if (random.chance(0.05)) parts.push(`${quoted(name)}:${value()}`)
    }
    while (random.chance(0.25)) parts.push(`${quoted(random.pick(KEYS))}:${value()}`)
    return `{${(random.chance(0.2) ? random.shuffled(parts) : parts).join()}}`
  }

  /** Corrupts a text at a random position, or returns it unchanged. */
  function damaged(text: string): string {
    if (text === '' || random.chance(0.85)) return text
    const at = random.below(text.length)
    return random.pick([
      text.slice(0, at),
      text.slice(at),
      `${text.slice(0, at)}${random.pick(['"', '{', ']', ',', '\\', '\u0001', '\ufeff'])}${text.slice(at)}`,
      `${text}${text}`,
      `\n\t ${text} \r\n`,
    ])
  }

  return { value, objectLike, damaged }
}
export type JsonInputs = ReturnType<typeof createJsonInputs>
