import countryCodes from 'i18n-iso-countries/codes.json' with { type: 'json' }
import { z } from 'zod'

const countries: ReadonlySet<string> = new Set(countryCodes.map(([alpha2]) => alpha2 as string))
const languageNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** Returns whether a code is a country code of ISO 3166-1 alpha-2, or XK for Kosovo, which has no official code. */
export const isCountry = (code: string): boolean => countries.has(code)

/** Returns the usual spelling of a time zone, or undefined when the name is not an IANA zone. */
function knownTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined // offsets like +01:00 are not zones: they have no daylight saving time
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    // An alias of the zone remains as the user typed it: a user in Asia/Kolkata should not read Asia/Calcutta.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    return undefined
  }
}

/**
 * Returns the canonical spelling of the BCP 47 tag of a known language. `german` has the form of a tag, but is not a
 * known language.
 */
function canonicalLanguage(tag: string): string | undefined {
  try {
    const [known] = Intl.getCanonicalLocales(tag)
    return known !== undefined && languageNames.of(known) !== undefined ? known : undefined
  } catch {
    return undefined
  }
}

/** Returns the schema of text that `read` normalizes. Text that `read` rejects fails with `problem`. */
const normalizedText = (
  example: string,
  maxLength: number,
  normalize: (text: string) => string | undefined,
  problem: string,
) =>
  z
    .string()
    .trim()
    .max(maxLength, problem)
    .meta({ examples: [example] })
    .transform((text, context) => {
      const known = normalize(text)
      if (known !== undefined) return known
      context.addIssue({ code: 'custom', message: problem })
      return z.NEVER
    })

/** A country by its ISO 3166-1 alpha-2 code. Accepts lower-case letters. */
export const country = normalizedText(
  'DE',
  2,
  // The letters are checked first: in JavaScript, a capital ß is SS, the code of South Sudan.
  (text) => (/^[A-Za-z]{2}$/.test(text) && isCountry(text.toUpperCase()) ? text.toUpperCase() : undefined),
  'must be the two-letter code of a country (ISO 3166-1), such as DE for Germany',
)

/** A time zone of the IANA database. */
export const timeZone = normalizedText(
  'Europe/Berlin',
  64,
  knownTimeZone,
  'must be an IANA time zone, such as Europe/Berlin',
)

/** A language by its BCP 47 tag. */
export const language = normalizedText(
  'de',
  35,
  canonicalLanguage,
  'must be the code of a language (BCP 47), such as de or pt-BR',
)
