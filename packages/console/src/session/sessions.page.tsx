import { Button, Group, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { SessionStatus } from '@wheelhouse/protocol'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { useRef, useState } from 'react'
import { dataSize, duration, money } from '../base/format.ts'
import { LinkAnchor, LinkButton, SessionLink } from '../base/links.tsx'
import { messageOf } from '../base/message-of.ts'
import { Page } from '../base/page.tsx'
import { Empty } from '../base/states.tsx'
import { DataList } from '../list/data-list.tsx'
import type { ListColumn } from '../list/list-types.ts'
import { RobotSelect } from '../list/robot-select.tsx'
import { isOnlyAdmin, useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { Stars } from './ended-strip.tsx'
import { filterOf, readSessionSearch, type SessionSearch } from './list-search.ts'
import {
  isOperated,
  type ListedSession,
  RowActions,
  useSessionCounts,
  useSessionList,
  When,
} from './session-row.tsx'

/** The count of a status from which on the platform counts no further. */
const COUNT_LIMIT = 10_000

/** Shows the user's sessions. Those who are only admins take part in none: they see the sessions of all users. */
export const SessionsPage = () =>
  isOnlyAdmin(useMe()) ? <Navigate to="/admin/sessions" replace /> : <OwnSessions />

function OwnSessions() {
  const search = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const list = useSessionList(search)
  const { data: counts } = useSessionCounts(search)
  const go = (next: SessionSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Page
      title={t('session.list.title')}
      description={!list.hasMore && list.rows && totalsOf(list.rows)}
      actions={<ExportButtons search={search} />}
    >
      <DataList
        label={t('session.list.label')}
        name="sessions"
        columns={sessionColumns}
        list={list}
        search={search}
        readSearch={readSessionSearch}
        onSearch={go}
        searchHint={t('session.list.searchHint')}
        filters={[
          {
            name: 'status',
            label: t('session.list.status'),
            options: SessionStatus.options.map((value) => ({
              value,
              label: sessionStatusTexts[value],
              count: counts?.by_status[value],
            })),
            countLimit: COUNT_LIMIT,
          },
        ]}
        fields={<ListFields search={search} onChange={go} />}
        empty={<Empty title={t('session.list.emptyTitle')}>{t('session.list.emptyText')}</Empty>}
        rowProps={({ id }) => ({ 'data-session': id })}
      />
    </Page>
  )
}

function totalsOf(rows: readonly ListedSession[]): string {
  const sum = (values: readonly (number | null)[]) =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0)
  return t('session.list.totals', {
    count: rows.length,
    duration: duration(sum(rows.map(({ duration_minutes: minutes }) => minutes))),
    amount: money(sum(rows.map(centsOf))),
  })
}

const sessionColumns: readonly ListColumn<ListedSession>[] = [
  [
    t('session.list.robot'),
    'minmax(0, 3fr)',
    ({ id, robot_name }) => <SessionLink id={id} fw={600} inherit name={robot_name} />,
    { card: 'title' },
  ],
  [t('session.list.status'), '7rem', ({ status }) => <SessionStatusLabel status={status} />, { card: 'end' }],
  [t('session.list.time'), '14rem', (session) => <When session={session} />, { sort: 'created_at' }],
  [
    t('session.list.operator'),
    'minmax(0, 2fr)',
    (session) => <OperatorName session={session} />,
    { from: 'lg', card: 'none' },
  ],
  [
    t('session.list.duration'),
    '6rem',
    ({ duration_minutes: minutes }) => (minutes === null ? '' : duration(minutes)),
    { align: 'right', from: 'lg' },
  ],
  [t('session.list.amount'), '6rem', amountOf, { align: 'right', from: 'lg' }],
  [
    t('session.list.rating'),
    '6rem',
    ({ rating }) => rating !== null && <Stars count={rating} />,
    { align: 'right', from: 'xl' },
  ],
  [
    t('session.list.actions'),
    '11rem',
    (session) => <RowActions session={session} size="compact-xs" />,
    { align: 'right', card: 'buttons' },
  ],
]

function OperatorName({ session }: { session: ListedSession }) {
  const me = useMe()
  return isOperated(session) ? me.display_name : session.operator_name
}

/** Returns what the viewer earns in a session, or pays for it. Empty until the session has ended. */
function amountOf(session: ListedSession): string {
  const cents = centsOf(session)
  return cents === null ? '' : money(cents)
}

const centsOf = (session: ListedSession) =>
  'operator_earnings_cents' in session ? session.operator_earnings_cents : session.client_charge_cents

function ListFields(props: { search: SessionSearch; onChange: (next: SessionSearch) => void }) {
  const { search, onChange } = props
  const change = (part: Readonly<Record<string, unknown>>) =>
    onChange(readSessionSearch({ ...search, ...part }))
  const date = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="date"
      label={label}
      value={search[name] ?? ''}
      onChange={({ currentTarget: { value } }) => change({ [name]: value })}
    />
  )
  return (
    <>
      <RobotSelect value={search.robot} onChange={(robot) => change({ robot })} />
      {date('from', t('session.list.createdFrom'))}
      {date('to', t('session.list.createdTo'))}
    </>
  )
}

/** Exports all sessions that match the filter, including those not shown: a large export in the background. */
function ExportButtons({ search }: { search: SessionSearch }) {
  const { bytes, wasCancelled, cancel, run } = useExport(search)
  return (
    <Group gap="xs">
      {run.isPending ? (
        <Button variant="default" onClick={cancel}>
          {t('session.export.cancel')}
        </Button>
      ) : (
        (['csv', 'json'] as const).map((format) => (
          <Button key={format} variant="default" onClick={() => run.mutate(format)}>
            {format === 'csv' ? t('session.export.csv') : t('session.export.json')}
          </Button>
        ))
      )}
      <LinkButton to="/exports" variant="default">
        {t('session.export.exports')}
      </LinkButton>
      <Text size="sm" role="status" c={run.error ? 'red.9' : undefined}>
        {run.isPending && t('session.export.progress', { size: dataSize(bytes / 1_000_000) })}
        {run.isSuccess &&
          run.data === undefined &&
          t('session.export.saved', { size: dataSize(bytes / 1_000_000) })}
        {run.data !== undefined &&
          textParts('session.export.background', {
            link: (
              <LinkAnchor to="/exports" search={{ export: run.data }} inherit>
                {t('session.export.viewProgress')}
              </LinkAnchor>
            ),
          })}
        {run.error && (wasCancelled() ? t('session.export.cancelled') : messageOf(run.error))}
      </Text>
    </Group>
  )
}

/** Returns the mutation that exports sessions. Its result is the id of an export in the background, if it is one. */
function useExport(search: SessionSearch) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [bytes, setBytes] = useState(0)
  const abort = useRef(new AbortController())
  const run = useMutation({
    mutationFn: async (format: 'csv' | 'json'): Promise<string | undefined> => {
      setBytes(0)
      abort.current = new AbortController()
      const { signal } = abort.current
      const filter = filterOf(search)
      const body = { format, ...filter }
      const { direct } = await answerOf(rest.POST('/api/session-exports/count', { body, signal }))
      if (direct) {
        saveFile(await exportSessions(rest, { format, filter, signal }, setBytes))
        return undefined
      }
      // Without the signal: the platform may have created an export whose request was aborted.
      const { id } = await answerOf(rest.POST('/api/session-exports', { body }))
      if (signal.aborted) {
        await answerOf(rest.DELETE('/api/session-exports/{id}', { params: { path: { id } } }))
        signal.throwIfAborted()
      }
      await queries.invalidateQueries({ queryKey: keys.exports })
      return id
    },
  })
  return {
    run,
    bytes,
    cancel: () => abort.current.abort(),
    wasCancelled: () => abort.current.signal.aborted,
  }
}

/**
 * Downloads the sessions that match a filter.
 * @param onProgress receives the number of bytes so far; the total is unknown
 * @throws ApiError; Error when the download breaks off, so that a partial file is never saved
 */
async function exportSessions(
  rest: RestClient,
  job: { format: 'csv' | 'json'; filter: ReturnType<typeof filterOf>; signal: AbortSignal },
  onProgress: (bytes: number) => void,
): Promise<{ name: string; content: Blob }> {
  const { format, filter, signal } = job
  const request = rest.POST('/api/sessions/export', {
    body: { format, ...filter },
    parseAs: 'stream',
    signal,
  })
  const stream = (await answerOf(request)) as ReadableStream<Uint8Array<ArrayBuffer>>
  const { response } = await request
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown): never => {
      if (signal.aborted) throw cause
      throw new Error(t('session.export.interrupted'), { cause })
    })
    if (done) break
    parts.push(value)
    bytes += value.length
    onProgress(bytes)
  }
  const type = format === 'csv' ? 'text/csv' : 'application/json'
  return { name: nameIn(response) ?? `sessions.${format}`, content: new Blob(parts, { type }) }
}

const nameIn = (response: Response) =>
  /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1]

function saveFile({ name, content }: Awaited<ReturnType<typeof exportSessions>>): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the URL asynchronously.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
