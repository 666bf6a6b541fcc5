import { Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DescriptionList, RowTable, type TableColumn } from '../base/data-table.tsx'
import { LinkAnchor, SessionLink } from '../base/links.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time, useNow } from '../base/time.tsx'
import { useSessionAction } from '../session/session-query.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StopSign } from '../status/shapes.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { gapText, reasonText, robotStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import {
  AdminPage,
  Freshness,
  LATE_JOB_S,
  type OpenSession,
  type Overview,
  SILENT_MS,
  shortTime,
  useAdminStop,
  useOverview,
  useQueues,
} from './admin-page.tsx'

export const OverviewPage = () => (
  <AdminPage title={t('admin.overview.title')} description={t('admin.overview.description')}>
    <Live />
  </AdminPage>
)

function Live() {
  const query = useOverview()
  return (
    <>
      <Freshness query={query} />
      <QueryView query={query}>
        {(overview) => (
          <>
            <Section title={t('admin.services.title')}>
              <Services overview={overview} />
            </Section>
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

const OpenSessionCard = ({ session }: { session: OpenSession }) => (
  <Card
    padding="sm"
    h="100%"
    component="article"
    aria-label={t('admin.openSession.label', { robot: session.robot_name })}
  >
    <Stack gap="xs" justify="space-between" h="100%">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <SessionLink id={session.id} fw={600} name={session.robot_name} />
          <Text size="sm">
            {t('admin.openSession.participants', {
              operator: session.operator_name,
              owner: session.client_name,
            })}
          </Text>
          <Note>
            {textParts('admin.openSession.started', {
              type: session.robot_type,
              time: <Time at={session.started_at} />,
            })}
          </Note>
        </div>
        <Stack gap={4} align="flex-end">
          <SessionStatusLabel status={session.status} />
          {!session.robot_connected && (
            <StateLabel shape="blind">{t('admin.openSession.offline')}</StateLabel>
          )}
        </Stack>
      </Group>
      {session.stop ? (
        <Text size="sm" c="var(--mantine-color-error)" fw={600}>
          {stopText(session.stop)}
        </Text>
      ) : (
        session.pause_reason && (
          <Text size="sm">{t('admin.openSession.paused', { reason: reasonText(session.pause_reason) })}</Text>
        )
      )}
      <StopButton session={session} />
      <SessionButtons session={session} />
    </Stack>
  </Card>
)

function stopText({ at, by_name: name, reason }: NonNullable<OpenSession['stop']>) {
  const parts = { time: <Time at={at} />, name, reason: reasonText(reason) }
  if (reason === 'emergency_stop')
    return textParts(name ? 'admin.openSession.stoppedBy' : 'admin.openSession.stopped', parts)
  return textParts(name ? 'admin.openSession.stoppedByFor' : 'admin.openSession.stoppedFor', parts)
}

/** Stops the robot without a confirmation. Stays enabled while a stop is in force, so that an admin who sees the robot move can send the stop again. */
function StopButton({ session }: { session: OpenSession }) {
  const stop = useAdminStop(session.id)
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
        leftSection={<StopSign />}
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

/** Lists the gateways and their health. @param props.readAtMs when the overview was fetched, by this device's clock */
function Gateways(props: { overview: Overview; readAtMs: number }) {
  const { at, gateways } = props.overview
  const elapsedMs = Math.max(0, useNow() - props.readAtMs)
  if (gateways.length === 0)
    return <Empty title={t('admin.gateways.emptyTitle')}>{t('admin.gateways.emptyText')}</Empty>
  // Both times come from the database, so a wrong clock on this device does not matter.
  const silentMs = (seenAt: string) => Date.parse(at) - Date.parse(seenAt) + elapsedMs
  return (
    <RowTable
      label={t('admin.gateways.label')}
      minWidth={560}
      rows={gateways}
      columns={[
        [
          t('admin.gateways.address'),
          ({ url, draining }) => (
            <>
              {url} {draining && <StateLabel shape="delayed">{t('admin.gateways.draining')}</StateLabel>}
            </>
          ),
        ],
        [t('admin.gateways.robots'), ({ robots }) => robots.toLocaleString(language)],
        [t('admin.gateways.runningSince'), ({ started_at }) => <Time at={started_at} />],
        [t('admin.gateways.lastSeen'), ({ seen_at }) => <Silence ms={silentMs(seen_at)} />],
      ]}
    />
  )
}

const Silence = ({ ms }: { ms: number }) => {
  const isSilent = ms > SILENT_MS
  return (
    <Text span inherit {...(isSilent && { c: 'var(--mantine-color-error)', fw: 600 })}>
      {t(isSilent ? 'admin.gateways.silent' : 'admin.gateways.seen', { time: shortTime(ms) })}
    </Text>
  )
}

const RobotCounts = ({ robots }: { robots: Overview['robots'] }) => (
  <DescriptionList
    cols={{ base: 2, xs: 4 }}
    size="xl"
    items={{
      ...Object.fromEntries(
        statuses.map((status) => [robotStatusTexts[status], robots[status].toLocaleString(language)]),
      ),
      [t('admin.overview.registered')]: statuses
        .reduce((sum, status) => sum + robots[status], 0)
        .toLocaleString(language),
    }}
  />
)

const statuses = ['IN_SESSION', 'AVAILABLE', 'OFFLINE'] as const

interface Service {
  readonly id: string
  readonly name: ReactNode
  readonly shape: keyof typeof serviceTexts
  readonly detail: ReactNode
}

const serviceTexts = {
  live: t('admin.services.works'),
  delayed: t('admin.services.limited'),
  blind: t('admin.services.fails'),
}

const serviceColumns: readonly TableColumn<Service>[] = [
  [t('admin.services.service'), ({ name }) => name],
  [t('admin.services.state'), ({ shape }) => <StateLabel shape={shape}>{serviceTexts[shape]}</StateLabel>],
  [t('admin.services.detail'), ({ detail }) => detail],
]

/** Says in a line for each service whether it works, and where to look if it does not. */
function Services({ overview: { at, gateways, not_recorded, robots } }: { overview: Overview }) {
  const queues = useQueues().data ?? []
  const silent = gateways.filter(({ seen_at }) => Date.parse(at) - Date.parse(seen_at) > SILENT_MS).length
  const failed = queues.reduce((sum, queue) => sum + queue.failed, 0)
  const due = queues.filter((queue) => queue.due > 0)
  const oldestS = Math.max(0, ...due.map((queue) => queue.oldest_due_seconds))
  const connected = robots.AVAILABLE + robots.IN_SESSION
  const gaps = not_recorded.map(({ reason, sessions }) =>
    t('admin.services.notRecorded', { count: sessions, reason: gapText(reason) }),
  )
  const lateJobs = () =>
    due.length === 0
      ? t('admin.services.nothingWaits')
      : t('home.admin.lateJobs', {
          jobs: due.reduce((sum, queue) => sum + queue.due, 0),
          time: shortTime(oldestS * 1_000),
        })
  const services: Service[] = [
    {
      id: 'gateways',
      name: t('admin.overview.gateways'),
      shape: gateways.length === 0 || silent > 0 ? 'blind' : 'live',
      detail:
        silent > 0
          ? t('admin.services.silent', { count: silent })
          : t('admin.services.gateways', { count: gateways.length, robots: connected }),
    },
    {
      id: 'recording',
      name: t('admin.services.recording'),
      shape: gaps.length > 0 ? 'delayed' : 'live',
      detail: gaps.join(' · ') || t('admin.services.recorded'),
    },
    {
      id: 'jobs',
      name: <LinkAnchor to="/admin/jobs">{t('app.pages.jobs')}</LinkAnchor>,
      shape: failed > 0 ? 'blind' : oldestS > LATE_JOB_S ? 'delayed' : 'live',
      detail: failed > 0 ? t('home.admin.failedJobs', { jobs: failed }) : lateJobs(),
    },
  ]
  return <RowTable label={t('admin.services.title')} columns={serviceColumns} rows={services} />
}
