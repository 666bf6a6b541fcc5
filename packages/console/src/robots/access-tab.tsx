import { Alert, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable, DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { duration, money } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Section } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { SessionRow } from '../session/session-row.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { language, t } from '../texts/texts.ts'
import { type Robot, type RobotDetail, robotKey } from './use-robots.ts'

const SHOWN_BOOKINGS = 20

/** Shows who may drive a robot, within which limits, and its scheduled sessions. */
export const AccessTab = ({ robot }: { robot: RobotDetail }) => (
  <Stack>
    <Section title={t('robots.access.title')}>
      <DescriptionList cols={{ base: 1, xs: 2 }}>
        <DescriptionItem label={t('robots.access.operators')}>
          {robot.require_certification
            ? t('robots.access.certified', { type: robot.robot_type })
            : t('robots.access.allOperators')}
        </DescriptionItem>
        <DescriptionItem label={t('robots.access.clearStops')}>
          {t(robot.stop_clear === 'owner' ? 'robots.access.ownerAndAdmins' : 'robots.access.alsoOperator')}
        </DescriptionItem>
        <DescriptionItem label={t('robots.access.latencyLimit')}>
          {milliseconds(robot.latency_limit_ms)}
        </DescriptionItem>
        <DescriptionItem label={t('robots.access.latencyBudget')}>
          {robot.latency_budget_ms === null ? t('robots.access.none') : milliseconds(robot.latency_budget_ms)}
        </DescriptionItem>
      </DescriptionList>
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
    </Section>
    <Section title={t('robots.access.hold')}>
      <HoldRobot robot={robot} />
    </Section>
    <Section title={t('robots.access.scheduled')}>
      <Scheduled robot={robot} />
    </Section>
  </Stack>
)

const milliseconds = (value: number) =>
  new Intl.NumberFormat(language, { style: 'unit', unit: 'millisecond' }).format(value)

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

function useHold(robotId: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (on_hold: boolean) =>
      answerOf(
        rest.PATCH('/api/client/robots/{id}', { params: { path: { id: robotId } }, body: { on_hold } }),
      ),
    onSuccess: (robot) => {
      queries.setQueryData(robotKey(robotId), robot)
      return queries.invalidateQueries({ queryKey: keys.robots })
    },
  })
}

/** Shows that a robot is on hold, with a button to release it. */
export function RobotHold({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  if (!robot.on_hold) return null
  return (
    <Alert
      color="orange.9"
      variant="outline"
      title={t('robots.hold.title')}
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          {t('robots.hold.text')}
        </Text>
        <ConfirmButton
          variant="default"
          question={t('robots.hold.releaseQuestion', { robot: robot.name })}
          consequence={t('robots.hold.releaseConsequence')}
          confirmLabel={t('robots.hold.releaseConfirm')}
          onConfirm={() => hold.mutateAsync(false)}
        >
          {t('robots.hold.release')}
        </ConfirmButton>
      </Group>
    </Alert>
  )
}

/** Sets a robot on hold, so that no session can start on it. */
export function HoldRobotButton({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  return (
    <ConfirmButton
      variant="default"
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

/** Explains the hold, with its button. */
const HoldRobot = ({ robot }: { robot: RobotDetail }) =>
  robot.on_hold ? (
    <Text c="dimmed">{t('robots.hold.alreadyOnHold')}</Text>
  ) : (
    <Text c="dimmed" maw={640}>
      {t('robots.hold.note')}
    </Text>
  )

type Session = Schemas['ClientSession'] | Schemas['OperatorSession']

const SHOWN_SESSIONS = 10

/** Lists the latest sessions of a robot and links to all of them. */
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
          <SessionTable sessions={sessions} />
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

const SessionTable = ({ sessions }: { sessions: readonly Session[] }) => (
  <DataTable
    label={t('robots.sessions.label')}
    minWidth={560}
    columns={[
      t('robots.sessions.created'),
      t('robots.sessions.status'),
      t('robots.sessions.operator'),
      t('robots.sessions.duration'),
      t('robots.sessions.cost'),
    ]}
  >
    {sessions.map((session) => (
      <Table.Tr key={session.id}>
        <Table.Td>
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }} inherit>
            <Time at={session.created_at} exact />
          </LinkAnchor>
        </Table.Td>
        <Table.Td>
          <SessionStatusLabel status={session.status} />
        </Table.Td>
        <Table.Td>{session.operator_name}</Table.Td>
        <Table.Td>{session.duration_minutes === null ? '' : duration(session.duration_minutes)}</Table.Td>
        <Table.Td>{session.client_charge_cents === null ? '' : money(session.client_charge_cents)}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
