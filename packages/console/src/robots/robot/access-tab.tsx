import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../../platform/platform.ts'
import { keys } from '../../platform/queries.ts'
import { SessionRow } from '../../session/session-row.tsx'
import { language, t } from '../../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../../ui/data-table.tsx'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, QueryView } from '../../ui/states.tsx'
import { HoldRobot } from '../robot-hold.tsx'
import type { RobotDetail } from '../use-robots.ts'

const SHOWN = 20

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
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'scheduled-on', robot.id],
    queryFn: ({ signal }) =>
      answerOf(
        rest.GET('/api/sessions', {
          params: { query: { robotId: robot.id, status: 'PENDING', limit: SHOWN } },
          signal,
        }),
      ),
  })
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
          {sessions.length === SHOWN && (
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
