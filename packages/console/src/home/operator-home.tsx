import { Group, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { duration } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Section } from '../base/section.tsx'
import { QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'

type OperatorOverview = Schemas['OperatorOverview']

/** Events announce sessions. */
const POLL_MS = 15_000
const ROBOTS_SHOWN = 6

/** Shows an operator the open session, the next scheduled sessions, and robots to drive. */
export default function OperatorHome() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'operator-overview'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/operator/overview', { signal })),
    refetchInterval: POLL_MS,
  })
  return (
    <QueryView query={query}>
      {({ open_session, planned }) => (
        <Stack gap="lg">
          {open_session && <Resume session={open_session} />}
          {planned.length > 0 && <Planned sessions={planned} />}
          {!open_session && <ReadyRobots />}
        </Stack>
      )}
    </QueryView>
  )
}

const Resume = ({ session }: { session: NonNullable<OperatorOverview['open_session']> }) => (
  <Section title={t('home.operator.openSession')}>
    <Group justify="space-between">
      <Group gap="xs">
        <Text fw={600}>{session.robot_name}</Text>
        <SessionStatusLabel status={session.status} />
        {session.stopped && <Text size="sm">{t('home.operator.stopInForce')}</Text>}
        {!session.robot_connected && <Text size="sm">{t('home.operator.robotOffline')}</Text>}
        <Text size="sm" c="dimmed">
          {textParts('home.operator.started', { time: <Time at={session.started_at} /> })}
        </Text>
      </Group>
      <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }}>
        {t('home.operator.continue')}
      </LinkButton>
    </Group>
  </Section>
)

const Planned = ({ sessions }: { sessions: OperatorOverview['planned'] }) => (
  <Section title={t('home.operator.next')}>
    <List listStyleType="none" spacing="xs">
      {sessions.map(({ id, robot_name, scheduled_for, planned_minutes }) => (
        <List.Item key={id}>
          <Group gap="xs">
            <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} fw={600}>
              {robot_name}
            </LinkAnchor>
            <Text size="sm">
              <Time at={scheduled_for} exact />
            </Text>
            <Text size="sm" c="dimmed">
              {duration(planned_minutes)}
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  </Section>
)

/** Lists some of the robots that the operator may drive now. */
function ReadyRobots() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.robots, 'ready'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/operator/available-robots', { signal })),
  })
  return (
    <Section title={t('home.operator.robots')}>
      <QueryView
        query={query}
        isEmpty={({ robots }) => robots.length === 0}
        empty={<Text>{t('home.operator.noRobots')}</Text>}
      >
        {({ robots }) => (
          <List listStyleType="none" spacing="xs">
            {robots.slice(0, ROBOTS_SHOWN).map(({ id, name, robot_type }) => (
              <List.Item key={id}>
                <Group gap="xs">
                  <LinkAnchor to="/available/$robotId" params={{ robotId: id }} fw={600}>
                    {name}
                  </LinkAnchor>
                  <Text size="sm" c="dimmed">
                    {robot_type}
                  </Text>
                </Group>
              </List.Item>
            ))}
          </List>
        )}
      </QueryView>
      <Group>
        <LinkButton to="/available" variant="default" size="xs">
          {t('home.operator.allRobots')}
        </LinkButton>
      </Group>
    </Section>
  )
}
