import { TextInput } from '@mantine/core'
import { answerOf } from '@wheelhouse/sdk'
import { ServerSelect } from '../list/server-select.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { readSessionSearch, type SessionSearch } from './list-search.ts'

interface Props {
  readonly search: SessionSearch
  readonly onChange: (next: SessionSearch) => void
}

/** Filters the session list by robot and by period. */
export function ListFields({ search, onChange }: Props) {
  const { rest } = usePlatform()
  const change = (part: Readonly<Record<string, unknown>>) =>
    onChange(readSessionSearch({ ...search, ...part }))
  const robotsAt = async (query: { search?: string; robotId?: string }, signal: AbortSignal) => {
    const { robots } = await answerOf(rest.GET('/api/session-robots', { params: { query }, signal }))
    return robots.map(({ id, name }) => ({ value: id, label: name }))
  }
  return (
    <>
      <ServerSelect
        label={t('session.list.robot')}
        placeholder={t('session.list.allRobots')}
        value={search.robot}
        onChange={(robot) => change({ robot })}
        queryKey={[...keys.robots, 'of-sessions']}
        load={(text, signal) => robotsAt({ search: text }, signal)}
        find={async (robotId, signal) => (await robotsAt({ robotId }, signal))[0]}
      />
      <TextInput
        type="date"
        label={t('session.list.createdFrom')}
        value={search.from ?? ''}
        onChange={({ currentTarget: { value } }) => change({ from: value })}
      />
      <TextInput
        type="date"
        label={t('session.list.createdTo')}
        value={search.to ?? ''}
        onChange={({ currentTarget: { value } }) => change({ to: value })}
      />
    </>
  )
}
