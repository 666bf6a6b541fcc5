import { Select } from '@mantine/core'
import { useMemo, useState } from 'react'
import { t } from '../texts/texts.ts'
import { choiceOf, countryChoices } from './choices.ts'

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
