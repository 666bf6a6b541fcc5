import countryCodes from 'i18n-iso-countries/codes.json' with { type: 'json' }
import { z } from 'zod'

const countries: ReadonlySet<string> = new Set(countryCodes.map(([alpha2]) => alpha2 as string))
const languageNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** Returns whether a code is a country's: ISO 3166-1 alpha-2, and XK, because Kosovo has no code of its own there. */
export const isCountry = (code: string): boolean => countries.has(code)

/** The zone's name as it is usually written, or undefined when there is no such IANA zone. */
function knownTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined // offsets like +01:00 are no zones: they know no summer
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    // Another name for the zone stays as it was given: who lives in Asia/Kolkata need not read Asia/Calcutta.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    return undefined
  }
}

/** Returns the canonical spelling of a BCP 47 tag of a known language: `german` has the form of one, and is none. */
function canonicalLanguage(tag: string): string | undefined {
  try {
    const [known] = Intl.getCanonicalLocales(tag)
    return known !== undefined && languageNames.of(known) !== undefined ? known : undefined
  } catch {
    return undefined
  }
}

/** Text that `read` understands, in the form that it gives; everything else is refused with `problem`. */
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

/** A country by its ISO 3166-1 alpha-2 code; small letters are taken as well. */
export const country = normalizedText(
  'DE',
  2,
  // Letters first: to JavaScript, a capital ß is SS, which is South Sudan.
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
