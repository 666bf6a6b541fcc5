import { Button, Card, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable } from '../base/data-table.tsx'
import { IconHandStop } from '../base/icons.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Empty, Problem, QueryView } from '../base/states.tsx'
import { Time, useNow } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useSessionAction } from '../session/session-query.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { reasonText, stopReasons } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { Freshness, shortTime } from './freshness.tsx'
import { type OpenSession, type Overview, overviewQuery } from './queries.ts'

/** Shows the state of the platform, with a stop button for every open session. */
export const OverviewPage = () => (
  <AdminPage title={t('admin.overview.title')} description={t('admin.overview.description')}>
    <Live />
  </AdminPage>
)

function Live() {
  const { rest } = usePlatform()
  const query = useQuery(overviewQuery(rest))
  return (
    <>
      <Freshness query={query} />
      <QueryView query={query}>
        {(overview) => (
          <>
            <Section title={t('admin.overview.robots')}>
              <RobotCounts robots={overview.robots} />
            </Section>
            <Section title={t('admin.overview.openSessions')}>
              <OpenSessions sessions={overview.sessions} />
            </Section>
            <Section title={t('admin.overview.gateways')}>
              <Gateways overview={overview} readAtMs={query.dataUpdatedAt} />
            </Section>
          </>
        )}
      </QueryView>
    </>
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Stack component="section" aria-label={title} gap="sm">
    <Title order={2}>{title}</Title>
    {children}
  </Stack>
)

function OpenSessions({ sessions: { total, open } }: { sessions: Overview['sessions'] }) {
  if (open.length === 0) return <Empty title={t('admin.overview.noSessions')} />
  return (
    <>
      {total > open.length && (
        <Text c="dimmed">{t('admin.overview.newest', { shown: open.length, total })}</Text>
      )}
      <SimpleGrid component="ul" cols={{ base: 1, md: 2 }} m={0} p={0} style={{ listStyle: 'none' }}>
        {open.map((session) => (
          <li key={session.id}>
            <OpenSessionCard session={session} />
          </li>
        ))}
      </SimpleGrid>
    </>
  )
}

/** Pauses or ends a session as an admin. The audit log records both actions. */
function SessionButtons({ session }: { session: OpenSession }) {
  const sessionAction = useSessionAction(session.id)
  const robot = session.robot_name
  return (
    <>
      <Group gap="xs" grow>
        {session.status === 'ACTIVE' && (
          <Button
            variant="default"
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('pause')}
            aria-label={t('admin.sessionActions.pauseLabel', { robot })}
          >
            {t('admin.sessionActions.pause')}
          </Button>
        )}
        <ConfirmButton
          variant="default"
          question={t('admin.sessionActions.endQuestion', { robot })}
          consequence={t('admin.sessionActions.endConsequence')}
          confirmLabel={t('admin.sessionActions.endSession')}
          onConfirm={() => sessionAction.mutateAsync('end')}
          aria-label={t('admin.sessionActions.endLabel', { robot })}
        >
          {t('admin.sessionActions.end')}
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'pause' ? sessionAction.error : undefined} />
    </>
  )
}

/** Shows an open session: robot, operator, start and stop state. */
const OpenSessionCard = ({ session }: { session: OpenSession }) => (
  <Card
    withBorder
    padding="sm"
    h="100%"
    component="article"
    aria-label={t('admin.openSession.label', { robot: session.robot_name })}
  >
    <Stack gap="xs" justify="space-between" h="100%">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }} fw={600}>
            {session.robot_name}
          </LinkAnchor>
          <Text size="sm">
            {t('admin.openSession.participants', {
              operator: session.operator_name,
              owner: session.client_name,
            })}
          </Text>
          <Text size="sm" c="dimmed">
            {textParts('admin.openSession.started', {
              type: session.robot_type,
              time: <Time at={session.started_at} />,
            })}
          </Text>
        </div>
        <Stack gap={4} align="flex-end">
          <SessionStatusLabel status={session.status} />
          {!session.robot_connected && (
            <StateLabel shape="blind">{t('admin.openSession.offline')}</StateLabel>
          )}
        </Stack>
      </Group>
      <StopState session={session} />
      <StopButton session={session} />
      <SessionButtons session={session} />
    </Stack>
  </Card>
)

function StopState({ session: { stop, pause_reason } }: { session: OpenSession }) {
  if (stop) {
    return (
      <Text size="sm" c="var(--mantine-color-error)" fw={600}>
        {stopText(stop)}
      </Text>
    )
  }
  if (!pause_reason) return null
  return <Text size="sm">{t('admin.openSession.paused', { reason: reasonText(pause_reason) })}</Text>
}

/** Says when the stop was pressed, and by whom and why if the platform knows it. */
function stopText({ at, by_name: name, reason }: NonNullable<OpenSession['stop']>) {
  const parts = { time: <Time at={at} />, name, reason: reasonText(reason) }
  if (reason === 'emergency_stop')
    return textParts(name ? 'admin.openSession.stoppedBy' : 'admin.openSession.stopped', parts)
  return textParts(name ? 'admin.openSession.stoppedByFor' : 'admin.openSession.stoppedFor', parts)
}

const RETRIES = 3
const RETRY_MS = 300
/** A hanging connection must not block the button. */
const REQUEST_TIMEOUT_MS = 3_000

/**
 * Stops the robot without a confirmation and retries unanswered requests. Stays enabled while a stop is in force, so
 * that an admin who sees the robot move can send the stop again.
 */
function StopButton({ session }: { session: OpenSession }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const stop = useMutation({
    mutationFn: () =>
      answerOf(
        rest.PATCH('/api/sessions/{id}', {
          params: { path: { id: session.id } },
          body: { action: 'emergency_stop', reason: stopReasons.admin },
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        }),
      ),
    // Without a network the request must fail now and not run later.
    networkMode: 'always',
    retry: (count, error) => count < RETRIES && !(error instanceof ApiError && isRejection(error.status)),
    retryDelay: RETRY_MS,
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.sessions }),
  })
  return (
    <>
      {stop.isPending && stop.failureCount > 0 && <b role="status">{t('admin.stop.retrying')}</b>}
      {stop.isError && (
        <div>
          <b>{t('admin.stop.failed')}</b>
          <Problem error={stop.error} />
        </div>
      )}
      <Button
        color="red.9"
        size="md"
        fullWidth
        leftSection={<IconHandStop size={20} />}
        loading={stop.isPending}
        onClick={() => stop.mutate()}
        aria-label={t(session.stop ? 'admin.stop.againLabel' : 'admin.stop.label', {
          robot: session.robot_name,
        })}
      >
        {t(session.stop ? 'admin.stop.again' : 'admin.stop.button')}
      </Button>
    </>
  )
}

const isRejection = (status: number) => status >= 400 && status < 500 && status !== 429

/** A gateway renews its row every few seconds. After this silence the platform is about to declare it dead. */
const SILENT_MS = 15_000

interface Props {
  readonly overview: Overview
  /** When the overview was fetched, by this device's clock. */
  readonly readAtMs: number
}

/** Lists the gateways and their health. */
function Gateways({ overview: { at, gateways }, readAtMs }: Props) {
  const nowMs = useNow()
  if (gateways.length === 0)
    return <Empty title={t('admin.gateways.emptyTitle')}>{t('admin.gateways.emptyText')}</Empty>
  // Both times come from the database, so a wrong clock on this device does not matter.
  const silentMs = (seenAt: string) => Date.parse(at) - Date.parse(seenAt) + Math.max(0, nowMs - readAtMs)
  return (
    <DataTable
      label={t('admin.gateways.label')}
      minWidth={560}
      columns={[
        t('admin.gateways.address'),
        t('admin.gateways.robots'),
        t('admin.gateways.runningSince'),
        t('admin.gateways.lastSeen'),
      ]}
    >
      {gateways.map((gateway) => (
        <Table.Tr key={gateway.id}>
          <Table.Td>
            {gateway.url}{' '}
            {gateway.draining && <StateLabel shape="delayed">{t('admin.gateways.draining')}</StateLabel>}
          </Table.Td>
          <Table.Td>{gateway.robots.toLocaleString(language)}</Table.Td>
          <Table.Td>
            <Time at={gateway.started_at} />
          </Table.Td>
          <Table.Td>
            <Silence ms={silentMs(gateway.seen_at)} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  )
}

const Silence = ({ ms }: { ms: number }) => (
  <Text
    span
    inherit
    c={ms > SILENT_MS ? 'var(--mantine-color-error)' : undefined}
    fw={ms > SILENT_MS ? 600 : undefined}
  >
    {t(ms > SILENT_MS ? 'admin.gateways.silent' : 'admin.gateways.seen', { time: shortTime(ms) })}
  </Text>
)

const shown = [
  ['IN_SESSION', t('admin.robotCounts.inSession')],
  ['AVAILABLE', t('admin.robotCounts.available')],
  ['OFFLINE', t('admin.robotCounts.offline')],
] as const

/** Counts registered robots by status. */
const RobotCounts = ({ robots }: { robots: Overview['robots'] }) => (
  <SimpleGrid component="dl" cols={{ base: 3, sm: 4 }} spacing="xs" m={0}>
    {shown.map(([status, label]) => (
      <Count key={status} label={label} count={robots[status]} />
    ))}
    <Count
      label={t('admin.robotCounts.registered')}
      count={shown.reduce((sum, [status]) => sum + robots[status], 0)}
    />
  </SimpleGrid>
)

const Count = ({ label, count }: { label: string; count: number }) => (
  <Paper withBorder p="sm">
    <Text component="dt" size="sm" c="dimmed">
      {label}
    </Text>
    <Text component="dd" m={0} fz="1.6rem" fw={600}>
      {count.toLocaleString(language)}
    </Text>
  </Paper>
)
