import { Select } from '@mantine/core'
import { useMemo } from 'react'
import { countryChoices } from './choices.ts'

interface Props {
  readonly value: string | null
  readonly error: string | undefined
  readonly onChange: (code: string | null) => void
}

/** Renders a select of countries, searchable by name. */
export function CountrySelect({ value, error, onChange }: Props) {
  const countries = useMemo(countryChoices, [])
  return (
    <Select
      label="Country"
      searchable
      clearable
      limit={50}
      nothingFoundMessage="No matching country"
      autoComplete="country-name"
      data={countries}
      value={value}
      error={error}
      onChange={onChange}
    />
  )
}
