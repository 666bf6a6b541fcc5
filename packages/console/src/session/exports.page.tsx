import { Alert, Button, Group, Paper, Progress, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { useRef } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { dataSize, dateTime, shortList } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time, useTicker } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { StateLabel } from '../status/state-label.tsx'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'

/** Lists the user's exports of sessions with their progress. */
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
      actions={
        <LinkButton to="/sessions" variant="default">
          {t('exports.page.sessions')}
        </LinkButton>
      }
    >
      {missing && (
        <Alert variant="outline" color="gray" title={t('exports.page.missingTitle')}>
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
              <ExportRow
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

interface Props {
  readonly stored: StoredExport
  /** Whether the address names this export. */
  readonly selected: boolean
  readonly onRemoved: () => void
}

/** Shows an export with its progress and its actions. */
function ExportRow({ stored, selected, onRemoved }: Props) {
  useTicker(EXPIRY_CHECK_MS)
  const { id, status, created_at, expires_at, error } = stored
  const format = stored.format.toUpperCase()
  const expired = Date.parse(expires_at) <= Date.now()
  const [label, shape] = states[expired ? 'EXPIRED' : status]
  const heading = `export-${id}`
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      data-export={id}
      aria-labelledby={heading}
      {...(selected && { style: { borderColor: 'var(--mantine-primary-color-filled)' } })}
    >
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} miw={0} flex="1 1 240px">
          <Group gap="xs">
            <Text fw={600} id={heading}>
              {t('exports.row.name', { format })}
            </Text>
            <StateLabel shape={shape}>{label}</StateLabel>
          </Group>
          <Text size="sm">
            <Filter filter={stored.filter} />
          </Text>
          {error && (
            <Text size="sm" c="var(--mantine-color-error)">
              {error}
            </Text>
          )}
          <Size stored={stored} />
          <Text size="sm" c="dimmed">
            {textParts(expired ? 'exports.row.createdExpired' : 'exports.row.created', {
              created: <Time at={created_at} />,
              expires: <Time at={expires_at} />,
            })}
          </Text>
        </Stack>
        <Group gap="xs">
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
          <RemoveButton stored={stored} onRemoved={onRemoved} />
        </Group>
      </Group>
    </Paper>
  )
}

/** Shows the rows and the size, with a progress bar until the export is finished. */
function Size({ stored }: { stored: StoredExport }) {
  const { rows, total_rows: total, bytes } = stored
  const format = stored.format.toUpperCase()
  const size = dataSize(bytes / BYTES_PER_MB)
  if (!isUnfinished(stored)) {
    return <Text size="sm">{t('exports.row.size', { rows, size })}</Text>
  }
  return (
    <>
      <Progress value={percentOf(stored)} aria-label={t('exports.row.progressLabel', { format })} />
      <Text size="sm">{t('exports.row.progress', { rows, total, size })}</Text>
    </>
  )
}

function Filter({ filter }: Pick<StoredExport, 'filter'>) {
  const { rest } = usePlatform()
  const { robotId } = filter
  const found = useQuery({
    queryKey: [...keys.robots, 'of-sessions', robotId],
    queryFn: () => answerOf(rest.GET('/api/session-robots', { params: { query: { robotId } } })),
    enabled: robotId !== undefined,
  })
  return filterText(filter, found.data?.robots[0]?.name)
}

function RemoveButton({ stored, onRemoved }: Omit<Props, 'selected'>) {
  const remove = useRemoveExport(stored.id)
  const running = isUnfinished(stored)
  const format = stored.format.toUpperCase()
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      question={t(running ? 'exports.cancel.question' : 'exports.remove.question', { format })}
      consequence={t(running ? 'exports.cancel.consequence' : 'exports.remove.consequence')}
      confirmLabel={t(running ? 'exports.cancel.confirm' : 'exports.remove.confirm')}
      dismissLabel={t('exports.remove.keep')}
      onConfirm={async () => {
        await remove.mutateAsync()
        onRemoved()
      }}
      aria-label={t(running ? 'exports.cancel.label' : 'exports.remove.label', { format })}
    >
      {t(running ? 'exports.cancel.button' : 'exports.remove.button')}
    </ConfirmButton>
  )
}

/** The steps at which progress is announced to screen readers, in percent. */
const ANNOUNCED_STEP = 25

/** Returns which sessions an export contains. `robotName` is undefined when it is not known. */
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
function useExports() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: keys.exports,
    queryFn: async ({ signal }) => (await answerOf(rest.GET('/api/session-exports', { signal }))).exports,
    refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ? POLL_INTERVAL_MS : false),
  })
}

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
