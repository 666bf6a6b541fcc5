import { Select, type SelectProps } from '@mantine/core'
import { useMemo } from 'react'

interface ZoneProps extends Pick<SelectProps, 'label' | 'description' | 'error' | 'maw'> {
  readonly value: string
  readonly onChange: (zone: string) => void
}

/** Chooses a time zone. The chosen one may be an alias, which is in no list. */
export const ZoneSelect = ({ value, onChange, ...field }: ZoneProps) => (
  <Select
    {...field}
    required
    searchable
    allowDeselect={false}
    limit={50}
    data={useMemo(() => [...new Set([value, ...Intl.supportedValuesOf('timeZone')])], [value])}
    value={value}
    onChange={(zone) => zone && onChange(zone)}
  />
)
