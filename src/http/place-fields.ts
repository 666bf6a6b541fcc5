import { z } from 'zod'

/** Region codes that the Unicode data knows besides those of ISO 3166-1: groupings, exceptions, placeholders. */
const NO_COUNTRIES = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '))
const regionNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/** Whether a code is a country's today: ISO 3166-1 alpha-2, and XK, which Kosovo's people have to live with. */
export function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || NO_COUNTRIES.has(code)) return false
  const current = new Intl.Locale(`und-${code}`).region === code // the code of a former country names its heir
  return current && regionNames.of(code) !== undefined
}

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

/** The canonical spelling of a BCP 47 language tag, or undefined when it is none. */
function canonicalLanguage(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** Text that `read` understands, in the form that it gives; everything else is refused with `problem`. */
const understood = (
  example: string,
  maxLength: number,
  read: (text: string) => string | undefined,
  problem: string,
) =>
  z
    .string()
    .trim()
    .max(maxLength)
    .meta({ examples: [example] })
    .transform((text, context) => {
      const known = read(text)
      if (known !== undefined) return known
      context.addIssue({ code: 'custom', message: problem })
      return z.NEVER
    })

/** A country by its ISO 3166-1 alpha-2 code; small letters are taken as well. */
export const country = understood(
  'DE',
  2,
  // Letters first: to JavaScript, a capital ß is SS, which is South Sudan.
  (text) => (/^[A-Za-z]{2}$/.test(text) && isCountry(text.toUpperCase()) ? text.toUpperCase() : undefined),
  'must be a country code of ISO 3166-1, such as DE',
)

/** A time zone of the IANA database. */
export const timeZone = understood(
  'Europe/Berlin',
  64,
  knownTimeZone,
  'must be an IANA time zone, such as Europe/Berlin',
)

/** A language by its BCP 47 tag. */
export const language = understood(
  'de',
  35,
  canonicalLanguage,
  'must be a BCP 47 language tag, such as de or pt-BR',
)
