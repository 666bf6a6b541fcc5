import { z } from 'zod'

/** What ends a line, controls a terminal, or turns around whatever stands behind the text. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u
const VISIBLE = /[^\p{Cc}\p{Cf}\p{Z}]/u

/** Text that PostgreSQL can keep and people can tell from other text: well-formed, without control characters. */
export const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .refine((text) => text.isWellFormed() && !FORBIDDEN.test(text), 'must be plain text on one line')
    .refine((text) => text === '' || VISIBLE.test(text), 'must not be empty')

/** Text of several lines. */
export const prose = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')

/** Text of several lines that must say something; blanks around it are cut off. */
export const nonEmptyProse = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
    .refine((text) => text === '' || VISIBLE.test(text), 'must not be empty')

/** A whole number in a query string. Empty, signed and fractional ones are refused, never rounded. */
export const queryInteger = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine(
      (value) => value >= minimum && value <= maximum,
      `must be a whole number from ${minimum} to ${maximum}`,
    )
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern
        Object.assign(jsonSchema, { type: 'integer', minimum, maximum })
      },
    })

export const timestamp = z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] })

const count = z.number().int()
/** How many there are of each of some names. */
export const countsBy = <T extends string>(names: readonly T[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, count])) as Record<T, typeof count>)
