import { Group, List, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { RobotState } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useState } from 'react'
import { DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { money, shortList, timeOfDay } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { CopyableSecret } from '../base/secret.tsx'
import { Section } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import type { LiveRobot } from '../status/live-robots.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { useFleetStop } from '../stop/fleet-stop.ts'
import { StopResults } from '../stop/stop-all.tsx'
import { reasonText, robotStateTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { LiveTile } from '../wall/live-tile.tsx'
import { createPictureSlots } from '../wall/picture-slots.ts'
import styles from '../wall/wall.module.css'
import { Attention, type AttentionItem } from './attention.tsx'

/** Events announce stops, pauses and losses. Batteries and costs arrive with the next poll. */
type ClientOverview = Schemas['ClientOverview']

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

/** Lists stopped, lost and paused robots, those that went offline, low batteries, robots on hold, and invoices whose payment failed. */
const OwnerAttention = ({ overview }: { overview: ClientOverview }) => (
  <Attention
    title={t('home.attention.title')}
    none={t('home.attention.none')}
    items={[
      ...overview.live.flatMap(ofRobot),
      ...ofOffline(overview.went_offline),
      ...overview.low_batteries.map(ofBattery),
      ...overview.on_hold.map(ofHold),
      ...overview.failed_invoices.map(ofInvoice),
    ]}
  />
)

function ofRobot({ id, name, state, session }: LiveRobot): AttentionItem[] {
  if (!session || state === 'DRIVING' || state === 'READY') return []
  return [
    {
      id,
      label: robotStateTexts[state],
      shape: state === 'PAUSED' ? 'paused' : state === 'STOPPED' ? 'stopped' : 'lost',
      subject: (
        <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600}>
          {name}
        </LinkAnchor>
      ),
      detail: detailOf(session),
      action: (
        <LinkButton to="/sessions/$sessionId" params={{ sessionId: session.id }} size="xs" variant="default">
          {t('home.attention.openSession')}
        </LinkButton>
      ),
    },
  ]
}

function detailOf({ stop, pause_reason, operator_name, ends_at }: NonNullable<LiveRobot['session']>): string {
  if (ends_at !== null) return t('home.attention.operatorGone', { time: timeOfDay(new Date(ends_at)) })
  const reason = reasonText(stop ? stop.reason : pause_reason)
  if (stop?.by_name) return t('home.attention.stoppedBy', { name: stop.by_name, reason })
  return reason === ''
    ? t('home.attention.operatedBy', { operator: operator_name })
    : t('home.attention.operatedByFor', { operator: operator_name, reason })
}

function ofOffline({ count, last_at, robots }: ClientOverview['went_offline']): AttentionItem[] {
  const [first] = robots
  if (!first || last_at === null) return []
  const names = shortList.format(robots.map(({ name }) => name))
  return [
    {
      id: 'offline',
      label: robotStateTexts.OFFLINE,
      shape: 'blind',
      subject:
        count === 1 ? (
          <LinkAnchor to="/robots/$robotId" params={{ robotId: first.id }} fw={600}>
            {first.name}
          </LinkAnchor>
        ) : (
          <LinkAnchor to="/robots" fw={600}>
            {t('home.attention.robots', { count })}
          </LinkAnchor>
        ),
      detail: textParts('home.attention.wentOffline', {
        time: <Time at={last_at} />,
        names:
          count > robots.length
            ? t('home.attention.andMore', { names, count: count - robots.length })
            : names,
      }),
    },
  ]
}

const ofBattery = ({ id, name, battery }: ClientOverview['low_batteries'][number]): AttentionItem => ({
  id: `battery ${id}`,
  label: t('home.attention.lowBattery'),
  shape: 'delayed',
  subject: (
    <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600}>
      {name}
    </LinkAnchor>
  ),
  detail: t('home.attention.charge', { charge: percent(battery) }),
})

const ofHold = ({ id, name }: ClientOverview['on_hold'][number]): AttentionItem => ({
  id: `hold ${id}`,
  label: t('home.attention.onHold'),
  shape: 'delayed',
  subject: (
    <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600}>
      {name}
    </LinkAnchor>
  ),
  detail: t('home.attention.onHoldText'),
})

const ofInvoice = ({ id, month }: ClientOverview['failed_invoices'][number]): AttentionItem => ({
  id,
  label: t('home.attention.unpaid'),
  shape: 'blind',
  subject: (
    <LinkAnchor to="/invoices/$invoiceId" params={{ invoiceId: id }} fw={600}>
      {t('home.attention.invoice', { month: monthText(month) })}
    </LinkAnchor>
  ),
  detail: t('home.attention.paymentFailed'),
})

/** Returns a month such as `2026-10` in the viewer's language. */
const monthText = (month: string) =>
  new Intl.DateTimeFormat(language, { year: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )

/** Guides a new owner: register, connect, drive, invite. Gone once an invited operator has driven. */
function FirstSteps({ steps }: { steps: ClientOverview['first_steps'] }) {
  const { registered, connected, driven, driven_by_others } = steps
  if (driven_by_others) return null
  const done = [registered, connected, driven, driven_by_others]
  const next = done.indexOf(false)
  return (
    <Section title={t('home.firstSteps.title')}>
      <List type="ordered" spacing="md">
        <Step title={t('home.firstSteps.register')} done={registered} isNext={next === 0}>
          <LinkButton to="/robots/new" size="xs">
            {t('home.firstSteps.registerButton')}
          </LinkButton>
        </Step>
        <Step title={t('home.firstSteps.connect')} done={connected} isNext={next === 1}>
          <Text size="sm">{t('home.firstSteps.connectText')}</Text>
          <LinkButton to="/robots" size="xs">
            {t('home.firstSteps.connectButton')}
          </LinkButton>
        </Step>
        <Step title={t('home.firstSteps.drive')} done={driven} isNext={next === 2}>
          <DriveStep />
        </Step>
        <Step title={t('home.firstSteps.invite')} done={driven_by_others} isNext={next === 3}>
          <Text size="sm">{t('home.firstSteps.inviteText')}</Text>
          <CopyableSecret
            label={t('home.firstSteps.address')}
            value={`${window.location.origin}/dashboard`}
          />
        </Step>
      </List>
    </Section>
  )
}

function Step(props: { title: string; done: boolean; isNext: boolean; children: ReactNode }) {
  const { title, done, isNext, children } = props
  return (
    <List.Item aria-current={isNext ? 'step' : undefined}>
      <Group gap="xs">
        <Text fw={isNext ? 600 : 400}>{title}</Text>
        {done && <StateLabel shape="live">{t('home.firstSteps.done')}</StateLabel>}
      </Group>
      {isNext && (
        <Stack gap="xs" align="flex-start" mt={4}>
          {children}
        </Stack>
      )}
    </List.Item>
  )
}

/** Links to the robots, or to the settings, because an owner needs the operator role to drive. */
const DriveStep = () =>
  useMe().roles.includes('operator') ? (
    <LinkButton to="/available" size="xs">
      {t('home.firstSteps.chooseRobot')}
    </LinkButton>
  ) : (
    <>
      <Text size="sm">{t('home.firstSteps.addRoleText')}</Text>
      <LinkButton to="/settings" size="xs">
        {t('home.firstSteps.addRole')}
      </LinkButton>
    </>
  )

/** Tiles on the home page. The wall shows all. */
const TILES = 6

/** Shows the first live robots, those that need attention first, with a stop for each. */
function LiveNow({ robots }: { robots: readonly LiveRobot[] }) {
  const fleetStop = useFleetStop()
  const [slots] = useState(createPictureSlots)
  return (
    <Section title={t('home.live.title')}>
      <StopResults fleetStop={fleetStop} />
      {robots.length === 0 ? (
        <Empty title={t('home.live.none')} />
      ) : (
        <>
          <ul className={styles.wall} aria-label={t('home.live.label')}>
            {robots.slice(0, TILES).map((robot) => (
              <LiveTile key={robot.id} robot={robot} slots={slots} fleetStop={fleetStop} />
            ))}
          </ul>
          <Group>
            <LinkButton to="/live" variant="default" size="xs">
              {t('home.live.all')}
            </LinkButton>
          </Group>
        </>
      )}
    </Section>
  )
}
