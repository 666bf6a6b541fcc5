import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { MAX_SEARCH } from './list-search.ts'

const DEBOUNCE_MS = 250

/** Chooses one of the robots of the viewer's sessions. The platform searches them, because they may be more than a page can load. */
export function RobotSelect(props: {
  value: string | undefined
  onChange: (robotId: string | undefined) => void
}) {
  const { value, onChange } = props
  const [typed, setTyped] = useState('')
  const selected = useRead(
    [...keys.robots, 'of-sessions', 'option', value],
    (rest, { signal }) => rest.GET('/api/session-robots', { params: { query: { robotId: value } }, signal }),
    { enabled: value !== undefined },
  )
  const selectedName = value === undefined ? undefined : selected.data?.robots[0]?.name
  // The field shows the name of the selected robot, which is no search.
  const [search] = useDebouncedValue(typed === selectedName ? '' : typed.trim(), DEBOUNCE_MS)
  const matches = useRead(
    [...keys.robots, 'of-sessions', 'options', search],
    (rest, { signal }) => rest.GET('/api/session-robots', { params: { query: { search } }, signal }),
    { placeholderData: keepPreviousData },
  )
  const names = new Map<string, string>()
  if (value !== undefined) names.set(value, selectedName ?? t('ui.list.selected'))
  for (const { id, name } of matches.data?.robots ?? []) names.set(id, name)
  return (
    <Select
      label={t('session.list.robot')}
      placeholder={t('session.list.allRobots')}
      searchable
      clearable
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      searchValue={typed}
      onSearchChange={(next) => setTyped(next.slice(0, MAX_SEARCH))}
      data={[...names].map(([id, name]) => ({ value: id, label: name }))}
      // The platform has searched already.
      filter={({ options: found }) => found}
      nothingFoundMessage={matches.isFetching ? t('common.searching') : t('ui.list.noMatches')}
      error={matches.error ? t('ui.list.searchFailed') : undefined}
    />
  )
}
