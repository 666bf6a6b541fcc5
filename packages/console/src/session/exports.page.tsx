import { Alert, Button, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { useRef } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { dataSize, dateTime, shortList } from '../base/format.ts'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time, useTicker } from '../base/time.tsx'
import { ExportRow } from '../list/export-row.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'

export function ExportsPage() {
  const query = useExports()
  const { export: wanted } = useSearch({ from: '/shell/exports' })
  const navigate = useNavigate({ from: '/exports' })
  const missing = wanted !== undefined && query.data?.every(({ id }) => id !== wanted)
  const removed = (id: string) => {
    if (id === wanted) void navigate({ search: {}, replace: true })
  }
  return (
    <Page
      title={t('exports.page.title')}
      description={t('exports.page.description')}
      link={['/sessions', t('exports.page.sessions')]}
    >
      {missing && (
        <Alert color="gray" title={t('exports.page.missingTitle')}>
          <Text size="sm">{t('exports.page.missingText')}</Text>
        </Alert>
      )}
      <Announcements exports={query.data ?? []} />
      <QueryView
        query={query}
        isEmpty={(exports) => exports.length === 0}
        empty={<Empty title={t('exports.page.emptyTitle')}>{t('exports.page.emptyText')}</Empty>}
      >
        {(exports) => (
          <Stack component="ul" gap="xs" p={0} m={0} aria-label={t('exports.page.label')}>
            {exports.map((stored) => (
              <Row
                key={stored.id}
                stored={stored}
                selected={stored.id === wanted}
                onRemoved={() => removed(stored.id)}
              />
            ))}
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

/** Announces the exports that have run while the page was open. The text changes in steps, not with every poll. */
function Announcements({ exports }: { exports: readonly StoredExport[] }) {
  const followed = useRef(new Set<string>())
  for (const stored of exports) if (isUnfinished(stored)) followed.current.add(stored.id)
  return (
    <VisuallyHidden role="status">
      {exports
        .filter(({ id }) => followed.current.has(id))
        .map(announcementOf)
        .join(' ')}
    </VisuallyHidden>
  )
}

const BYTES_PER_MB = 1_000_000
const EXPIRY_CHECK_MS = 20_000

const states = {
  PENDING: [t('exports.states.pending'), 'request'],
  RUNNING: [t('exports.states.running'), 'request'],
  READY: [t('exports.states.ready'), 'off'],
  FAILED: [t('exports.states.failed'), 'delayed'],
  EXPIRED: [t('exports.states.expired'), 'off'],
} as const

/** Shows an export with its progress and its actions. @param props.selected whether the address names it */
function Row(props: { stored: StoredExport; selected: boolean; onRemoved: () => void }) {
  const { stored, selected, onRemoved } = props
  useTicker(EXPIRY_CHECK_MS)
  const { id, status, rows, total_rows: total, bytes, created_at, expires_at, error, filter } = stored
  const format = stored.format.toUpperCase()
  const expired = Date.parse(expires_at) <= Date.now()
  const running = isUnfinished(stored)
  const remove = useRemoveExport(id)
  const { robotId } = filter
  const found = useRead(
    [...keys.robots, 'of-sessions', robotId],
    (rest) => rest.GET('/api/session-robots', { params: { query: { robotId } } }),
    { enabled: robotId !== undefined },
  )
  const size = dataSize(bytes / BYTES_PER_MB)
  return (
    <ExportRow
      id={id}
      name={t('exports.row.name', { format })}
      state={states[expired ? 'EXPIRED' : status]}
      progress={
        running
          ? { percent: percentOf(stored), label: t('exports.row.progressLabel', { format }) }
          : undefined
      }
      error={error}
      dates={textParts(expired ? 'exports.row.createdExpired' : 'exports.row.created', {
        created: <Time at={created_at} />,
        expires: <Time at={expires_at} />,
      })}
      isSelected={selected}
      actions={
        <>
          {status === 'READY' && !expired && (
            <Button
              component="a"
              href={`/api/session-exports/${id}/download`}
              download
              size="xs"
              aria-label={t('exports.row.downloadLabel', { format })}
            >
              {t('exports.row.download')}
            </Button>
          )}
          <ConfirmButton
            size="xs"
            question={t(running ? 'exports.cancel.question' : 'exports.remove.question', { format })}
            consequence={t(running ? 'exports.cancel.consequence' : 'exports.remove.consequence')}
            confirmLabel={t(running ? 'exports.cancel.confirm' : 'exports.remove.confirm')}
            dismissLabel={t('exports.remove.keep')}
            onConfirm={() => remove.mutateAsync().then(onRemoved)}
            aria-label={t(running ? 'exports.cancel.label' : 'exports.remove.label', { format })}
          >
            {t(running ? 'exports.cancel.button' : 'exports.remove.button')}
          </ConfirmButton>
        </>
      }
    >
      <Text size="sm">{filterText(filter, found.data?.robots[0]?.name)}</Text>
      <Text size="sm">
        {running ? t('exports.row.progress', { rows, total, size }) : t('exports.row.size', { rows, size })}
      </Text>
    </ExportRow>
  )
}

/** The steps at which progress is announced to screen readers, in percent. */
const ANNOUNCED_STEP = 25

function filterText(
  { search, status, robotId, from, to }: StoredExport['filter'],
  robotName?: string,
): string {
  const parts = [
    search && t('exports.filter.search', { search }),
    status && t('exports.filter.status', { status: sessionStatusTexts[status] }),
    robotId && (robotName ?? t('exports.filter.oneRobot')),
    from && t('exports.filter.from', { date: startText(from) }),
    to && endText(to),
  ].filter((part): part is string => Boolean(part))
  if (parts.length === 0) return t('exports.filter.all')
  return t('exports.filter.some', { conditions: shortList.format(parts) })
}

/** Returns how much of an export is written, in percent. The total is an estimate, so 100 means ready. */
const percentOf = ({ rows, total_rows }: StoredExport): number =>
  total_rows === 0 ? 0 : Math.min(99, Math.floor((100 * rows) / total_rows))

/** Returns what a screen reader announces about an export. It changes only a few times. */
function announcementOf(stored: StoredExport): string {
  const format = stored.format.toUpperCase()
  if (stored.status === 'READY') return t('exports.announcement.ready', { format })
  if (stored.status === 'FAILED') return t('exports.announcement.failed', { format })
  const percent = Math.floor(percentOf(stored) / ANNOUNCED_STEP) * ANNOUNCED_STEP
  return percent === 0
    ? t('exports.announcement.running', { format })
    : t('exports.announcement.written', { format, percent })
}

const isMidnight = (at: Date) => at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0
const day = (at: Date) =>
  new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric' }).format(at)

const startText = (from: string) => (isMidnight(new Date(from)) ? day(new Date(from)) : dateTime(from))

/** Returns the condition of the exclusive end; an end at midnight as the last day. */
function endText(to: string): string {
  const end = new Date(to)
  return isMidnight(end)
    ? t('exports.filter.until', { date: day(new Date(end.getTime() - 1)) })
    : t('exports.filter.before', { date: dateTime(to) })
}

type StoredExport = Schemas['StoredExport']

const POLL_INTERVAL_MS = 2_000

const isUnfinished = ({ status }: StoredExport) => status === 'PENDING' || status === 'RUNNING'

/** Queries the user's exports, newest first. Polls while one is unfinished. */
const useExports = () =>
  useRead(keys.exports, (rest, { signal }) => rest.GET('/api/session-exports', { signal }), {
    select: ({ exports }) => exports,
    refetchInterval: ({ state }) => (state.data?.exports.some(isUnfinished) ? POLL_INTERVAL_MS : false),
  })

/** Returns the mutation that cancels or removes an export. An export that does not exist any more counts as removed. */
function useRemoveExport(id: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const request = answerOf(rest.DELETE('/api/session-exports/{id}', { params: { path: { id } } }))
      await request.catch((cause: unknown) => {
        if (!(cause instanceof ApiError && cause.status === 404)) throw cause
      })
      await queries.invalidateQueries({ queryKey: keys.exports })
    },
  })
}
