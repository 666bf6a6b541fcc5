import countryCodes from 'i18n-iso-countries/codes.json'
import languageCodes from 'iso-639-1'
import { language } from '../texts/texts.ts'

interface Choice {
  readonly value: string
  /** The name and the code, such as `Germany (DE)`. */
  readonly label: string
}

/** Returns all countries, named in the viewer's language. */
export const countryChoices = (): Choice[] =>
  namedChoices(
    'region',
    countryCodes.map(([code]) => code as string),
  )

/** Returns the choice with a typed name, code or label, ignoring case. */
export function choiceOf(choices: readonly Choice[], typed: string): Choice | undefined {
  const text = typed.trim().toLowerCase()
  return choices.find(({ value, label }) => {
    const whole = label.toLowerCase()
    return text === whole || text === value.toLowerCase() || whole === `${text} (${value.toLowerCase()})`
  })
}

/** Returns all languages, named in the viewer's language, including chosen tags such as `pt-BR`. */
export const languageChoices = (chosen: readonly string[]): Choice[] =>
  namedChoices('language', [...new Set([...languageCodes.getAllCodes(), ...chosen])])

/** Returns all time zones, including the chosen one, which may be an alias. */
export const zoneChoices = (chosen: string): string[] => [
  ...new Set([chosen, ...Intl.supportedValuesOf('timeZone')]),
]

function namedChoices(type: 'region' | 'language', codes: readonly string[]): Choice[] {
  const names = new Intl.DisplayNames(language, { type, fallback: 'none' })
  // Browsers lack the names of some languages.
  const nameOf = (code: string) => names.of(code) ?? (languageCodes.getName(code) || code)
  return codes
    .map((value) => ({ value, label: `${nameOf(value)} (${value})` }))
    .sort((a, b) => a.label.localeCompare(b.label, language))
}
