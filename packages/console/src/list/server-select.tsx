import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { MAX_SEARCH } from './list-search.ts'

interface SelectOption {
  readonly value: string
  readonly label: string
}

interface Props {
  readonly label: string
  readonly placeholder?: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  /** Begins with a root of `platform/queries.ts`. */
  readonly queryKey: readonly unknown[]
  /** Requests the first matches of a text, all of them for an empty one. */
  readonly load: (text: string, signal: AbortSignal) => Promise<readonly SelectOption[]>
  /** Requests the option of a value, undefined if it does not exist. */
  readonly find: (value: string, signal: AbortSignal) => Promise<SelectOption | undefined>
}

const DEBOUNCE_MS = 250

/** Renders a combobox whose options the platform searches, for more values than a page can load. */
function ServerSelect({ label, placeholder, value, onChange, queryKey, load, find }: Props) {
  const [typed, setTyped] = useState('')
  const selected = useQuery({
    queryKey: [...queryKey, 'option', value],
    queryFn: async ({ signal }) => (await find(value ?? '', signal)) ?? null,
    enabled: value !== undefined,
  })
  const selectedOption = value === undefined ? undefined : selected.data
  // The field shows the label of the selected option, which is no search.
  const [text] = useDebouncedValue(typed === selectedOption?.label ? '' : typed.trim(), DEBOUNCE_MS)
  const matches = useQuery({
    queryKey: [...queryKey, 'options', text],
    queryFn: ({ signal }) => load(text, signal),
    placeholderData: keepPreviousData,
  })
  const options = new Map<string, string>()
  if (value !== undefined) options.set(value, selectedOption?.label ?? t('ui.list.selected'))
  for (const option of matches.data ?? []) options.set(option.value, option.label)
  return (
    <Select
      label={label}
      placeholder={placeholder}
      searchable
      clearable
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      searchValue={typed}
      onSearchChange={(next) => setTyped(next.slice(0, MAX_SEARCH))}
      data={[...options].map(([option, name]) => ({ value: option, label: name }))}
      // The platform has searched already.
      filter={({ options: found }) => found}
      nothingFoundMessage={matches.isFetching ? t('common.searching') : t('ui.list.noMatches')}
      error={matches.error ? t('ui.list.searchFailed') : undefined}
    />
  )
}

/** Chooses one of the robots of the viewer's sessions. */
export function RobotSelect(props: {
  value: string | undefined
  onChange: (robotId: string | undefined) => void
}) {
  const { rest } = usePlatform()
  const robotsAt = async (query: { search?: string; robotId?: string }, signal: AbortSignal) => {
    const { robots } = await answerOf(rest.GET('/api/session-robots', { params: { query }, signal }))
    return robots.map(({ id, name }) => ({ value: id, label: name }))
  }
  return (
    <ServerSelect
      label={t('session.list.robot')}
      placeholder={t('session.list.allRobots')}
      value={props.value}
      onChange={props.onChange}
      queryKey={[...keys.robots, 'of-sessions']}
      load={(text, signal) => robotsAt({ search: text }, signal)}
      find={async (robotId, signal) => (await robotsAt({ robotId }, signal))[0]}
    />
  )
}
