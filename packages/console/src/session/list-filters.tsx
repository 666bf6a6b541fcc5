import { Group, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { SessionStatus, sessionStatusTexts } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { useMe } from '../auth/me.ts'
import { type ListSearch, readListSearch } from './list-search.ts'
import type { ListedSession } from './load-sessions.ts'

interface Props {
  readonly search: ListSearch
  /** The listed sessions. Operators can filter by their robots. */
  readonly sessions: readonly ListedSession[]
  readonly onChange: (next: ListSearch) => void
}

/** Filters the session list. */
export function ListFilters({ search, sessions, onChange }: Props) {
  const robots = useRobots(sessions, search.robot)
  const change = (name: keyof ListSearch) => (event: { currentTarget: { value: string } }) =>
    onChange({ ...readListSearch({ ...search, [name]: event.currentTarget.value }), shown: undefined })
  return (
    <Group component="form" role="search" aria-label="Filter sessions" align="flex-end">
      <NativeSelect
        label="Status"
        value={search.status ?? ''}
        onChange={change('status')}
        data={[
          { value: '', label: 'All' },
          ...SessionStatus.options.map((value) => ({ value, label: sessionStatusTexts[value] })),
        ]}
      />
      <NativeSelect
        label="Robot"
        value={search.robot ?? ''}
        onChange={change('robot')}
        data={[{ value: '', label: 'All' }, ...robots]}
      />
      <TextInput type="date" label="Created from" value={search.from ?? ''} onChange={change('from')} />
      <TextInput type="date" label="Created to" value={search.to ?? ''} onChange={change('to')} />
    </Group>
  )
}

/** Returns the robots to choose from: those of the owner and those of the listed sessions. */
function useRobots(sessions: readonly ListedSession[], chosen: string | undefined) {
  const { rest } = usePlatform()
  const { roles } = useMe()
  const own = useQuery({
    queryKey: [...keys.robots, 'mine'],
    queryFn: () => answerOf(rest.GET('/api/client/robots', { params: { query: { limit: 100 } } })),
    enabled: roles.includes('client'),
  })
  const names = new Map<string, string>([
    ...(chosen ? [[chosen, 'Selected robot'] as const] : []),
    ...sessions.map(({ robot_id, robot_name }) => [robot_id, robot_name] as const),
    ...(own.data ?? []).map(({ id, name }) => [id, name] as const),
  ])
  return [...names].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label))
}
