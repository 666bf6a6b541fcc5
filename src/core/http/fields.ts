import { z } from 'zod'

/**
 * Characters that end a line, control a terminal or change the direction of the text that follows, and those without a width that no
 * script and no emoji needs: with them, two names look the same.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/u
const VISIBLE = /[^\p{Cc}\p{Cf}\p{Z}]/u

/**
 * Returns the schema of one line of text: well-formed, without control characters, so that PostgreSQL can store it
 * and it cannot imitate other text.
 */
export const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .refine((text) => text.isWellFormed() && !FORBIDDEN.test(text), 'must be plain text on one line')
    .refine((text) => text === '' || VISIBLE.test(text), 'must not be empty')

/** Returns the schema of multi-line text. */
export const prose = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')

/** Returns the schema of multi-line text that must not be empty. Surrounding blanks are removed. */
export const nonEmptyProse = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
    .refine((text) => text === '' || VISIBLE.test(text), 'must not be empty')

/**
 * Returns the schema of a whole number in a query string. Rejects empty, signed and fractional numbers instead of
 * rounding them.
 */
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

/** Returns the schema of a share in a query string: a decimal number above 0, at most 1. */
export const queryShare = () =>
  z
    .string()
    .regex(/^(0?\.\d{1,4}|1(\.0{1,4})?)$/, 'must be a number above 0, at most 1')
    .transform(Number)
    .refine((value) => value > 0, 'must be a number above 0, at most 1')
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern
        Object.assign(jsonSchema, { type: 'number', exclusiveMinimum: 0, maximum: 1 })
      },
    })

export const timestamp = z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] })

const count = z.number().int()
/** Returns the schema of an object with one count per name. */
export const countsBy = <T extends string>(names: readonly T[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, count])) as Record<T, typeof count>)
