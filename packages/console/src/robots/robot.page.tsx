import { Anchor, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { OrganizationAction, RobotState } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import type { ComponentProps, ReactNode } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DescriptionList, RowTable, type TableColumn } from '../base/data-table.tsx'
import { duration, money } from '../base/format.ts'
import { LinkAnchor, LinkButton, SessionLink, webAddress } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Empty, QueryView, Warning } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { latencyMs } from '../drive/figure-texts.ts'
import { useMay } from '../platform/organization.ts'
import { keys } from '../platform/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { type LiveSession, useLiveSession } from '../platform/use-live.ts'
import { useStopText } from '../session/clear-stop.tsx'
import { type SessionDetail, useSession } from '../session/session-query.ts'
import { SessionRow } from '../session/session-row.tsx'
import { StopBar, useStop } from '../session/stop-bar.tsx'
import { type LiveRobot, RobotStateLabel, useLiveRobot } from '../status/live-robots.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StalenessNote } from '../status/staleness-note.tsx'
import { t } from '../texts/texts.ts'
import { ConnectRobot, PairRobot } from './connect-robot.tsx'
import { DataTab } from './data-tab.tsx'
import { HealthTab } from './health-tab.tsx'
import { LiveTab } from './live-tab.tsx'
import { DeleteRobot, RobotSettingsForm } from './robot-settings-form.tsx'
import { RobotTab } from './search.ts'
import { TransferRobot } from './transfer-robot.tsx'
import { type Robot, type RobotDetail, robotKey, useLiveRobots, useRobot } from './use-robots.ts'

export function RobotPage() {
  const { robotId } = useParams({ from: '/shell/robots/$robotId' })
  const query = useRobot(robotId)
  const live = useLiveRobot(robotId)
  return (
    <ResourcePage
      query={query}
      kind={t('robots.page.kind')}
      back={<LinkButton to="/robots">{t('robots.page.all')}</LinkButton>}
    >
      {(robot) => (
        // The key resets all typed and shown values for another robot.
        <Page
          key={robot.id}
          title={robot.name}
          description={[robot.robot_type, ...robot.tags].join(' · ')}
          actions={<RobotHeader robot={robot} live={live} />}
        >
          <StalenessNote asOfMs={query.dataUpdatedAt} />
          <RobotHold robot={robot} />
          <RobotTabs robot={robot} live={live} />
        </Page>
      )}
    </ResourcePage>
  )
}

type TabProps = ComponentProps<typeof LiveTab>

/** The tabs by their names in the address. */
const tabs: Record<RobotTab, readonly [label: string, content: (props: TabProps) => ReactNode]> = {
  live: [t('robots.page.live'), (props) => <LiveTab {...props} />],
  sessions: [
    t('robots.page.sessions'),
    ({ robot }) => (
      <Section title={t('robots.page.sessions')}>
        <RobotSessions robot={robot} />
      </Section>
    ),
  ],
  data: [t('robots.page.data'), ({ robot }) => <DataTab robot={robot} />],
  health: [t('robots.page.health'), ({ robot }) => <HealthTab robot={robot} />],
  access: [t('robots.page.access'), ({ robot }) => <AccessTab robot={robot} />],
  settings: [
    t('robots.page.settings'),
    ({ robot }) => (
      <>
        <Section title={t('robots.page.settings')}>
          <RobotSettingsForm robot={robot} />
        </Section>
        <TransferRobot robot={robot} />
        <Section title={t('robots.page.remove')}>
          <DeleteRobot robot={robot} />
        </Section>
      </>
    ),
  ],
  connect: [t('robots.page.connect'), ({ robot }) => <ConnectTab robot={robot} />],
}

/** What a member must be allowed to do to see a tab. */
const tabActions: Partial<Record<RobotTab, OrganizationAction>> = {
  data: 'datasets.read',
  settings: 'robots.write',
  connect: 'robots.write',
}

function RobotTabs({ robot, live }: Omit<TabProps, 'state'>) {
  const { tab = 'live' } = useSearch({ from: '/shell/robots/$robotId' })
  const navigate = useNavigate({ from: '/robots/$robotId' })
  const state = useRobotState(robot, live)
  const may = useMay()
  const select = (value: string | null) =>
    void navigate({ search: { tab: RobotTab.safeParse(value).data }, replace: true, resetScroll: false })
  const sessionId = live?.session?.id
  return (
    <>
      <Tabs value={tab} onChange={select} keepMounted={false}>
        <Tabs.List aria-label={t('robots.page.tabs')}>
          {RobotTab.options
            .filter((value) => may(tabActions[value] ?? 'robots.read'))
            .map((value) => (
              <Tabs.Tab key={value} value={value}>
                {tabs[value][0]}
              </Tabs.Tab>
            ))}
        </Tabs.List>
        <Tabs.Panel value={tab} pt="md">
          {tabs[tab][1]({ robot, live, state })}
        </Tabs.Panel>
      </Tabs>
      {/* The live tab has its own, which also stops over the gateway. */}
      {sessionId !== undefined && tab !== 'live' && <SessionStop key={sessionId} sessionId={sessionId} />}
    </>
  )
}

/** Offers what an owner does with a robot: a look, a message to its operator, a hold. The overview shows its state itself. */
function RobotHeader({ robot, live }: Omit<TabProps, 'state'>) {
  const { tab } = useSearch({ from: '/shell/robots/$robotId' })
  const state = useRobotState(robot, live)
  const may = useMay()
  const session = live?.session
  const params = { sessionId: session?.id ?? '' }
  return (
    <Group gap="sm">
      {tab !== undefined && state && <RobotStateLabel state={state} />}
      {!robot.on_hold && may('robots.write') && <HoldRobotButton robot={robot} />}
      {session && (
        <>
          <LinkButton to="/sessions/$sessionId" params={params} variant="default">
            <Text span inherit truncate maw="14rem">
              {t('robots.header.message', { operator: session.operator_name })}
            </Text>
          </LinkButton>
          <LinkButton to="/watch/$sessionId" params={params}>
            {t('robots.header.fullView')}
          </LinkButton>
        </>
      )}
    </Group>
  )
}

/**
 * Returns the state of a robot, undefined until it is known. Its status, which arrives over the hub, is newer than the list
 * of live robots, but does not distinguish the states in a session.
 */
function useRobotState(robot: RobotDetail, live: LiveRobot | null | undefined): RobotState | undefined {
  const { status } = useLiveRobots()(robot)
  if (status === 'OFFLINE') return 'OFFLINE'
  if (status === 'AVAILABLE') return 'READY'
  return live?.session ? live.state : undefined
}

/** Shows the stop of a robot's open session on pages without a connection to the gateway. */
function SessionStop({ sessionId }: { sessionId: string }) {
  const live = useLiveSession(sessionId)
  const { data } = useSession(sessionId)
  return live && data ? <Bar live={live} session={data} /> : null
}

function Bar({ live, session }: { live: LiveSession; session: SessionDetail }) {
  const stop = useStop(live.room, undefined)
  const recordedStopText = useStopText(session)
  return <StopBar stop={stop} inForce={recordedStopText || undefined} />
}

const ConnectTab = ({ robot }: { robot: RobotDetail }) => (
  <Stack>
    <Section title={t('robots.connect.oneLine')}>
      <PairRobot robot={robot} />
    </Section>
    <Section title={t('robots.connect.connection')}>
      <DescriptionList
        cols={{ base: 1, xs: 2 }}
        items={{
          [t('robots.connect.controlUrl')]: robot.control_url,
          [t('robots.connect.video')]: <Video url={robot.stream_url} />,
          [t('robots.connect.hardwareId')]: robot.hardware_id,
          [t('robots.connect.registered')]: <Time at={robot.created_at} exact />,
        }}
      />
    </Section>
    <Section title={t('robots.connect.token')}>
      <RobotToken robot={robot} />
    </Section>
  </Stack>
)

function Video({ url }: { url: string }) {
  if (url === '') return t('robots.connect.noVideo')
  const address = webAddress(url)
  if (!address) return url
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" inherit>
      {url}
    </Anchor>
  )
}

function RobotToken({ robot }: { robot: Robot }) {
  const rotate = useWrite(
    (rest) => rest.POST('/api/client/robots/{id}/token', { params: { path: { id: robot.id } } }),
    { gcTime: 0 },
  )
  if (rotate.data) {
    return (
      <>
        <ConnectRobot robot={robot} token={rotate.data.robot_token} />
        <Group>
          <Button variant="default" onClick={() => rotate.reset()}>
            {t('robots.token.hide')}
          </Button>
        </Group>
      </>
    )
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('robots.token.note')}
      </Text>
      <ConfirmButton
        question={t('robots.token.question', { robot: robot.name })}
        consequence={t('robots.token.consequence')}
        confirmLabel={t('robots.token.confirm')}
        onConfirm={() => rotate.mutateAsync()}
      >
        {t('robots.token.replace')}
      </ConfirmButton>
    </Group>
  )
}

const SHOWN_BOOKINGS = 20

export const AccessTab = ({ robot }: { robot: RobotDetail }) => (
  <Stack>
    <Section title={t('robots.access.title')}>
      <DescriptionList
        cols={{ base: 1, xs: 2 }}
        items={{
          [t('robots.access.operators')]: robot.require_certification
            ? t('robots.access.certified', { type: robot.robot_type })
            : t('robots.access.allOperators'),
          [t('robots.access.clearStops')]: t(
            robot.stop_clear === 'owner' ? 'robots.access.ownerAndAdmins' : 'robots.access.alsoOperator',
          ),
          [t('robots.access.latencyLimit')]: latencyMs(robot.latency_limit_ms),
          [t('robots.access.latencyBudget')]:
            robot.latency_budget_ms === null ? t('robots.access.none') : latencyMs(robot.latency_budget_ms),
        }}
      />
      {useMay()('robots.write') && (
        <Group>
          <LinkButton
            to="/robots/$robotId"
            params={{ robotId: robot.id }}
            search={{ tab: 'settings' }}
            variant="default"
          >
            {t('robots.access.changeSettings')}
          </LinkButton>
        </Group>
      )}
    </Section>
    <Section title={t('robots.access.hold')}>
      <Text c="dimmed" maw={640}>
        {t(robot.on_hold ? 'robots.hold.alreadyOnHold' : 'robots.hold.note')}
      </Text>
    </Section>
    <Section title={t('robots.access.scheduled')}>
      <Scheduled robot={robot} />
    </Section>
  </Stack>
)

function Scheduled({ robot }: { robot: RobotDetail }) {
  const query = useRead([...keys.sessions, 'scheduled-on', robot.id], (rest, { signal }) =>
    rest.GET('/api/sessions', {
      params: { query: { robotId: robot.id, status: 'PENDING', limit: SHOWN_BOOKINGS } },
      signal,
    }),
  )
  return (
    <QueryView
      query={query}
      isEmpty={({ sessions }) => sessions.length === 0}
      empty={<Empty title={t('robots.access.noneScheduled')} />}
    >
      {({ sessions }) => (
        <>
          <Stack component="ul" m={0} p={0} gap="xs" style={{ listStyle: 'none' }}>
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </Stack>
          {sessions.length === SHOWN_BOOKINGS && (
            <Text size="sm">
              <LinkAnchor to="/sessions" search={{ robot: robot.id, status: 'PENDING' }} inherit>
                {t('robots.access.allScheduled')}
              </LinkAnchor>
            </Text>
          )}
        </>
      )}
    </QueryView>
  )
}

const useHold = (id: string) =>
  useWrite(
    (rest, on_hold: boolean) =>
      rest.PATCH('/api/client/robots/{id}', { params: { path: { id } }, body: { on_hold } }),
    { stores: robotKey(id), refresh: [keys.robots] },
  )

export function RobotHold({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  const may = useMay()
  if (!robot.on_hold) return null
  return (
    <Warning title={t('robots.hold.title')}>
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          {t('robots.hold.text')}
        </Text>
        {may('robots.write') && (
          <ConfirmButton
            question={t('robots.hold.releaseQuestion', { robot: robot.name })}
            consequence={t('robots.hold.releaseConsequence')}
            confirmLabel={t('robots.hold.releaseConfirm')}
            onConfirm={() => hold.mutateAsync(false)}
          >
            {t('robots.hold.release')}
          </ConfirmButton>
        )}
      </Group>
    </Warning>
  )
}

/** Sets a robot on hold, so that no session can start on it. */
export function HoldRobotButton({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  return (
    <ConfirmButton
      question={t('robots.hold.holdQuestion', { robot: robot.name })}
      consequence={t('robots.hold.holdConsequence')}
      confirmLabel={t('robots.hold.holdConfirm')}
      confirmColor="blue"
      onConfirm={() => hold.mutateAsync(true)}
    >
      {t('robots.hold.hold')}
    </ConfirmButton>
  )
}

const SHOWN_SESSIONS = 10

export function RobotSessions({ robot }: { robot: Robot }) {
  const query = useRead([...keys.sessions, 'of-robot', robot.id], (rest) =>
    rest.GET('/api/sessions', { params: { query: { robotId: robot.id, limit: SHOWN_SESSIONS } } }),
  )
  return (
    <QueryView
      query={query}
      isEmpty={({ sessions }) => sessions.length === 0}
      empty={<Empty title={t('robots.sessions.emptyTitle')} />}
    >
      {({ sessions }) => (
        <>
          <RowTable
            label={t('robots.sessions.label')}
            minWidth={560}
            columns={sessionColumns}
            rows={sessions}
          />
          <Group>
            <LinkButton to="/sessions" search={{ robot: robot.id }} variant="default" size="xs">
              {t('robots.sessions.all')}
            </LinkButton>
          </Group>
        </>
      )}
    </QueryView>
  )
}

const sessionColumns: readonly TableColumn<Schemas['Session']>[] = [
  [
    t('robots.sessions.created'),
    ({ id, created_at }) => <SessionLink id={id} inherit name={<Time at={created_at} exact />} />,
  ],
  [t('robots.sessions.status'), ({ status }) => <SessionStatusLabel status={status} />],
  [t('robots.sessions.operator'), ({ operator_name }) => operator_name],
  [
    t('robots.sessions.duration'),
    ({ duration_minutes: minutes }) => (minutes === null ? '' : duration(minutes)),
  ],
  [
    t('robots.sessions.cost'),
    ({ own_operator, client_charge_cents: cents }) =>
      own_operator ? t('session.summary.ownOperator') : cents === null ? '' : money(cents),
  ],
]
