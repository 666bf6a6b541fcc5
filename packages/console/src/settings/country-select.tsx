import { Select } from '@mantine/core'
import countryCodes from 'i18n-iso-countries/codes.json'
import languageCodes from 'iso-639-1'
import { useMemo, useState } from 'react'
import { language, t } from '../texts/texts.ts'

interface Props {
  readonly value: string | null
  readonly error: string | undefined
  readonly onChange: (code: string | null) => void
}

/**
 * Renders a select of countries, searchable by name. A typed name selects its country when the field is left; another
 * text is reported, because it is not stored.
 */
export function CountrySelect({ value, error, onChange }: Props) {
  const countries = useMemo(countryChoices, [])
  const [search, setSearch] = useState('')
  const [unknown, setUnknown] = useState<string>()
  const change = (code: string | null) => {
    setUnknown(undefined)
    onChange(code)
  }
  const selectTyped = () => {
    const typed = search.trim()
    if (typed === '' || countries.some(({ value: code, label }) => code === value && label === typed)) return
    const choice = choiceOf(countries, typed)
    if (choice) change(choice.value)
    else setUnknown(typed)
  }
  return (
    <Select
      label={t('profiles.country.label')}
      searchable
      clearable
      limit={50}
      nothingFoundMessage={t('profiles.country.noMatch')}
      autoComplete="country-name"
      data={countries}
      value={value}
      searchValue={search}
      onSearchChange={setSearch}
      onBlur={selectTyped}
      selectFirstOptionOnChange
      error={unknown === undefined ? error : t('profiles.country.unknown', { name: unknown })}
      onChange={change}
    />
  )
}

interface Choice {
  readonly value: string
  /** The name and the code, such as `Germany (DE)`. */
  readonly label: string
}

/** Returns all countries, named in the viewer's language. */
const countryChoices = (): Choice[] =>
  namedChoices(
    'region',
    countryCodes.map(([code]) => code as string),
  )

/** Returns the choice with a typed name, code or label, ignoring case. */
function choiceOf(choices: readonly Choice[], typed: string): Choice | undefined {
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
