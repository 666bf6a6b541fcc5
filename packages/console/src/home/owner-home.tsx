import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { RobotState } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { robotStateTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../ui/data-table.tsx'
import { money } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { QueryView } from '../ui/states.tsx'
import type { ClientOverview } from './client-overview.ts'
import { FirstSteps } from './first-steps.tsx'
import { LiveNow } from './live-now.tsx'
import { OwnerAttention } from './owner-attention.tsx'

/** Events announce stops, pauses and losses. Batteries and costs arrive with the next poll. */
const POLL_MS = 5_000

/** Shows an owner what needs attention, the live robots, all robots by state and the costs of today. */
export default function OwnerHome() {
  const { rest } = usePlatform()
  const query = useQuery({
    // Below the robots, because their events and those of sessions change it.
    queryKey: [...keys.robots, 'overview'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/client/overview', { signal })),
    refetchInterval: POLL_MS,
  })
  return (
    <QueryView query={query}>
      {(overview) => (
        <Stack gap="lg">
          <FirstSteps steps={overview.first_steps} />
          {overview.first_steps.registered && (
            <>
              <OwnerAttention overview={overview} />
              <LiveNow robots={overview.live} />
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                <RobotsByState robots={overview.robots} />
                <Today today={overview.today} />
              </SimpleGrid>
            </>
          )}
        </Stack>
      )}
    </QueryView>
  )
}

const count = new Intl.NumberFormat(language)

const states: readonly RobotState[] = ['READY', 'DRIVING', 'PAUSED', 'STOPPED', 'LOST', 'OFFLINE']

const RobotsByState = ({ robots }: { robots: ClientOverview['robots'] }) => (
  <Section title={t('home.owner.robots')}>
    <DescriptionList cols={{ base: 2, xs: 3 }}>
      {states.map((state) => (
        <DescriptionItem key={state} label={robotStateTexts[state]} size="lg">
          {count.format(robots[state])}
        </DescriptionItem>
      ))}
    </DescriptionList>
    <div>
      <LinkButton to="/robots" variant="default" size="xs">
        {t('home.owner.allRobots')}
      </LinkButton>
    </div>
  </Section>
)

const Today = ({ today }: { today: ClientOverview['today'] }) => (
  <Section title={t('home.owner.today')}>
    <DescriptionList cols={{ base: 2, xs: 3 }}>
      <DescriptionItem label={t('home.owner.endedSessions')} size="lg">
        {count.format(today.sessions)}
      </DescriptionItem>
      <DescriptionItem label={t('home.owner.cost')} size="lg">
        {money(today.spend_cents)}
      </DescriptionItem>
      <DescriptionItem label={t('home.owner.openSessions')} size="lg">
        {money(today.running_cents)}
      </DescriptionItem>
    </DescriptionList>
    <Text size="sm" c="dimmed">
      {t('home.owner.since')}
    </Text>
  </Section>
)
