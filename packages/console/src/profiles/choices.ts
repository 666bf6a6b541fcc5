import countryCodes from 'i18n-iso-countries/codes.json'
import languageCodes from 'iso-639-1'

interface Choice {
  readonly value: string
  readonly label: string
}

/** Every country, by its name in the viewer's language. */
export const countryChoices = (): Choice[] =>
  named(
    'region',
    countryCodes.map(([code]) => code as string),
  )

/** Languages, by their names in the viewer's language; with those that are chosen already, such as `pt-BR`. */
export const languageChoices = (chosen: readonly string[]): Choice[] =>
  named('language', [...new Set([...languageCodes.getAllCodes(), ...chosen])])

/** Time zones; with the one that is chosen already, which may be another name of one. */
export const zoneChoices = (chosen: string): string[] => [
  ...new Set([chosen, ...Intl.supportedValuesOf('timeZone')]),
]

function named(type: 'region' | 'language', codes: readonly string[]): Choice[] {
  const names = new Intl.DisplayNames(undefined, { type, fallback: 'none' })
  // Browsers do not know every language by name.
  const nameOf = (code: string) => names.of(code) ?? (languageCodes.getName(code) || code)
  return codes
    .map((value) => ({ value, label: `${nameOf(value)} (${value})` }))
    .sort((a, b) => a.label.localeCompare(b.label))
}
