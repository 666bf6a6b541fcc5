import { Group, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { RobotStatus, robotStatusTexts } from '@wheelhouse/protocol'
import { useState } from 'react'
import { type RobotSearch, readRobotSearch } from './list-search.ts'

/** Debounces queries while the user types. */
const DEBOUNCE_MS = 250

/** Filters the robot list. */
export function RobotFilters(props: { search: RobotSearch; onChange: (next: RobotSearch) => void }) {
  const { search, onChange } = props
  const [typed, setTyped] = useState({ search: search.search ?? '', type: search.type ?? '' })
  const apply = (change: Record<string, unknown>) =>
    onChange(readRobotSearch({ ...search, ...change, page: undefined }))
  const applyLater = useDebouncedCallback(apply, DEBOUNCE_MS)
  const type = (part: Partial<typeof typed>) => {
    setTyped((old) => ({ ...old, ...part }))
    applyLater({ ...typed, ...part })
  }
  return (
    <Group component="search" aria-label="Filter robots" align="flex-end">
      <TextInput
        label="Search"
        placeholder="Name, type, hardware or tag"
        type="search"
        value={typed.search}
        onChange={({ currentTarget: { value } }) => type({ search: value })}
        maxLength={100}
        flex={1}
        miw={200}
      />
      <TextInput
        label="Type"
        placeholder="so-101"
        value={typed.type}
        onChange={({ currentTarget: { value } }) => type({ type: value })}
        maxLength={100}
      />
      <NativeSelect
        label="Status"
        value={search.status ?? ''}
        onChange={({ currentTarget: { value } }) => apply({ ...typed, status: value })}
        data={[
          { value: '', label: 'All' },
          ...RobotStatus.options.map((value) => ({ value, label: robotStatusTexts[value] })),
        ]}
      />
    </Group>
  )
}
