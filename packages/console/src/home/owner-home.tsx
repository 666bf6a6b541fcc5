import { Box, Group, List, Stack, Text } from '@mantine/core'
import type { LinkProps } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useMemo, useState } from 'react'
import { Band, BandKey } from '../base/band.tsx'
import { CopyableSecret } from '../base/copyable.tsx'
import { duration, money, monthOf, shortList, timeOfDay } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { sentence } from '../base/message-of.ts'
import { Columns, Figures, Lines, Panel, Section } from '../base/section.tsx'
import { QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMay } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { type Activity, bandPartsOf, useActivity } from '../status/activity.ts'
import type { LiveRobot } from '../status/live-robots.tsx'
import type { ShapeName } from '../status/shape-name.ts'
import { Shape } from '../status/shapes.tsx'
import { StateLabel, StateSign, StateWord, tones } from '../status/state-label.tsx'
import { gapText, robotStateTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import { createPictureSlots } from '../wall/picture-slots.ts'
import { lineOf, StripTile } from '../wall/tile-picture.tsx'
import styles from './home.module.css'

type ClientOverview = Schemas['ClientOverview']

/** Events announce stops, pauses and losses. Batteries and costs arrive with the next poll. */
const POLL_MS = 5_000

/** Queries the overview. Its key is below the robots, because their events and those of sessions change it. */
const useOwnerOverview = () =>
  useRead([...keys.robots, 'overview'], (rest, { signal }) => rest.GET('/api/client/overview', { signal }), {
    refetchInterval: POLL_MS,
  })

/** Says in one sentence what is going on. */
export function OwnerSentence() {
  const { data } = useOwnerOverview()
  if (!data?.first_steps.registered) return null
  const needs = attentionOf(data).length
  return [
    needs === 0 ? t('home.owner.nothing') : t('home.owner.needs', { count: needs }),
    t('home.owner.driving', { count: data.robots.DRIVING }),
  ].join(' ')
}

/** Shows an owner what needs attention, the day in figures, the live robots and the sessions of today. */
export default function OwnerHome() {
  const query = useOwnerOverview()
  const mayRegister = useMay()('robots.write')
  const activity = useActivity()
  return (
    <QueryView query={query}>
      {(overview) => (
        <Stack gap="lg">
          {mayRegister && <FirstSteps steps={overview.first_steps} />}
          {overview.first_steps.registered && (
            <>
              <Columns of="minmax(0, 1.7fr) minmax(280px, 1fr)">
                <Attention
                  title={t('home.attention.title')}
                  none={t('home.attention.none')}
                  items={attentionOf(overview)}
                />
                <Today overview={overview} activity={activity} />
              </Columns>
              <LiveStrip overview={overview} />
              {activity && activity.sessions.length > 0 && <Days activity={activity} />}
            </>
          )}
        </Stack>
      )}
    </QueryView>
  )
}

const count = new Intl.NumberFormat(language)

/** Returns what today costs; nothing for members who may not see costs. */
function costOf({ spend_cents, running_cents }: ClientOverview['today']): [string, string, string][] {
  if (spend_cents === null || running_cents === null) return []
  const running = t('home.owner.running', { cost: money(running_cents) })
  return [[t('home.owner.cost'), money(spend_cents + running_cents), running]]
}

function Today({ overview, activity }: { overview: ClientOverview; activity: Activity | undefined }) {
  const { today, robots } = overview
  const sessions = activity?.sessions ?? []
  const drivenS = sessions.reduce((sum, { driven_seconds }) => sum + driven_seconds, 0)
  const stops = sessions.flatMap(({ spans }) => spans.filter(({ state }) => state === 'STOPPED')).length
  const total = Object.values(robots).reduce((sum, number) => sum + number, 0)
  return (
    <Panel title={t('home.owner.today')} note={t('home.owner.since')}>
      <Figures
        figures={[
          [
            t('home.owner.driven'),
            activity ? duration(drivenS / 60) : '–',
            t('home.owner.sessions', { count: sessions.length }),
          ],
          ...costOf(today),
          [t('home.owner.stops'), activity ? count.format(stops) : '–', t('home.owner.stopsNote')],
          [
            t('home.owner.online'),
            count.format(total - robots.OFFLINE),
            t('home.owner.offline', { count: robots.OFFLINE }),
          ],
        ]}
      />
    </Panel>
  )
}

const attentionOf = (overview: ClientOverview): AttentionItem[] => [
  ...overview.live.flatMap(ofRobot),
  ...overview.not_recorded.map(ofRecording),
  ...ofOffline(overview.went_offline),
  ...overview.low_batteries.map(ofBattery),
  ...overview.on_hold.map(ofHold),
  ...overview.failing_webhooks.map(ofWebhook),
  ...overview.stuck_exports.map(ofExport),
  ...overview.failed_invoices.map(ofInvoice),
]

const robotLink = (id: string, name: string) => (
  <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600} c="var(--mantine-color-text)">
    {name}
  </LinkAnchor>
)

/** Renders the button to the page where more is known, or where a decision is taken. */
const button = (link: LinkProps, { text = t('home.attention.details'), variant = 'default' } = {}) => (
  <LinkButton size="xs" variant={variant} {...link}>
    {text}
  </LinkButton>
)

const toRobot = (robotId: string): LinkProps => ({ to: '/robots/$robotId', params: { robotId } })
const toSession = (sessionId: string): LinkProps => ({ to: '/sessions/$sessionId', params: { sessionId } })

const robotShapes: Partial<Record<LiveRobot['state'], ShapeName>> = {
  PAUSED: 'paused',
  STOPPED: 'stopped',
  LOST: 'lost',
}

/** Stopped first, and what waits for a decision, as links to the page where it is taken. */
function ofRobot(robot: LiveRobot): AttentionItem[] {
  const { id, name, state, session } = robot
  if (!session) return []
  const asks = session.requested_minutes !== null || session.stop?.clear_requested_at != null
  if (!asks && (state === 'DRIVING' || state === 'READY')) return []
  const look = { text: t('live.tile.review'), variant: asks ? 'filled' : 'default' }
  return [
    {
      id,
      label: robotStateTexts[state],
      shape: asks ? 'request' : (robotShapes[state] ?? 'live'),
      subject: robotLink(id, name),
      detail: session.stop?.by_name
        ? t('home.attention.stoppedBy', { name: session.stop.by_name, line: lineOf(robot) })
        : lineOf(robot),
      since: <Time at={session.stop?.at ?? session.paused_at ?? session.started_at} />,
      action: button(toSession(session.id), look),
    },
  ]
}

type Of<K extends keyof ClientOverview> = ClientOverview[K] extends (infer Item)[] ? Item : never

const ofRecording = ({ session_id, robot_name, reason }: Of<'not_recorded'>): AttentionItem => ({
  id: `recording ${session_id}`,
  label: t('home.attention.notRecorded'),
  shape: 'delayed',
  subject: <b>{robot_name}</b>,
  detail: sentence(gapText(reason)),
  action: button(toSession(session_id), { text: t('live.tile.review') }),
})

function ofOffline({ count, last_at, robots }: ClientOverview['went_offline']): AttentionItem[] {
  const [first] = robots
  if (!first || last_at === null) return []
  const names = shortList.format(robots.map(({ name }) => name))
  const others = count - robots.length
  return [
    {
      id: 'offline',
      label: robotStateTexts.OFFLINE,
      shape: 'off',
      ...(count === 1
        ? { subject: robotLink(first.id, first.name), detail: t('home.attention.lostConnection') }
        : {
            subject: <b>{t('home.attention.robots', { count })}</b>,
            detail: others > 0 ? t('home.attention.andMore', { names, count: others }) : names,
          }),
      since: <Time at={last_at} />,
      action: button({ to: '/robots', search: { status: 'OFFLINE' } }),
    },
  ]
}

const ofBattery = ({ id, name, battery }: Of<'low_batteries'>): AttentionItem => ({
  id: `battery ${id}`,
  label: t('home.attention.lowBattery'),
  shape: 'delayed',
  subject: robotLink(id, name),
  detail: t('home.attention.charge', { charge: percent(battery) }),
  action: button(toRobot(id)),
})

const ofHold = ({ id, name }: Of<'on_hold'>): AttentionItem => ({
  id: `hold ${id}`,
  label: t('home.attention.onHold'),
  shape: 'off',
  subject: robotLink(id, name),
  detail: t('home.attention.onHoldText'),
  action: button(toRobot(id)),
})

const ofWebhook = ({ id, url, enabled, since }: Of<'failing_webhooks'>): AttentionItem => ({
  id,
  label: t(enabled ? 'home.attention.failing' : 'home.attention.turnedOff'),
  shape: 'blind',
  subject: <b>{t('home.attention.webhook')}</b>,
  detail: url,
  since: since && <Time at={since} />,
  action: button({ to: '/settings/webhooks/$webhookId', params: { webhookId: id } }),
})

const ofExport = ({ id, name, failed, created_at }: Of<'stuck_exports'>): AttentionItem => ({
  id,
  label: t(failed ? 'home.attention.failed' : 'home.attention.stuck'),
  shape: failed ? 'blind' : 'delayed',
  subject: <b>{t('home.attention.export', { name })}</b>,
  detail: t(failed ? 'home.attention.exportFailed' : 'home.attention.exportStuck'),
  since: <Time at={created_at} />,
  action: button({ to: '/datasets/exports' }),
})

const ofInvoice = ({ id, month }: Of<'failed_invoices'>): AttentionItem => ({
  id,
  label: t('home.attention.unpaid'),
  shape: 'delayed',
  subject: <b>{t('home.attention.invoice', { month: monthOf(`${month}-01T00:00:00Z`) })}</b>,
  detail: t('home.attention.paymentFailed'),
  action: button({ to: '/invoices/$invoiceId', params: { invoiceId: id } }),
})

/** Pictures on the home page. The wall shows all. */
const SHOWN = 6

/** Shows the first live robots, those that need attention first. The wall has their stops. */
function LiveStrip({ overview: { live, robots } }: { overview: ClientOverview }) {
  const [slots] = useState(createPictureSlots)
  const total = Object.values(robots).reduce((sum, number) => sum + number, 0)
  if (live.length === 0) return null
  const shown = live.slice(0, SHOWN)
  return (
    <Panel
      title={t('home.live.title')}
      note={t('home.live.shown', { shown: count.format(shown.length), total: count.format(total) })}
      more={<LinkAnchor to="/robots">{t('home.live.all')}</LinkAnchor>}
      isPlain
    >
      <div className={styles.strip}>
        {shown.map((robot) => (
          <StripTile key={robot.id} robot={robot} slots={slots} />
        ))}
      </div>
    </Panel>
  )
}

function Days({ activity }: { activity: Activity }) {
  const nowMs = Date.parse(activity.at)
  const fromMs = nowMs - (nowMs % DAY_MS)
  const byRobot = useMemo(() => [...Map.groupBy(activity.sessions, ({ robot_id }) => robot_id)], [activity])
  return (
    <Panel
      title={t('home.owner.sessionsToday')}
      note={t('home.owner.utc')}
      more={<LinkAnchor to="/sessions">{t('home.owner.allSessions')}</LinkAnchor>}
    >
      <div className={`${styles.day} ${styles.head}`} aria-hidden="true">
        <span />
        <Group justify="space-between">
          {['00', '06', '12', '18', '24'].map((hour) => (
            <span key={hour}>{hour}</span>
          ))}
        </Group>
        <Text span inherit ta="end">
          {t('home.owner.driven')}
        </Text>
        <Text span inherit ta="end">
          {t('home.owner.cost')}
        </Text>
      </div>
      <Lines>
        {byRobot.slice(0, DAYS_SHOWN).map(([robotId, sessions]) => {
          const parts = sessions.flatMap((session) => bandPartsOf(session, nowMs))
          const sum = (of: (session: (typeof sessions)[number]) => number) =>
            sessions.reduce((all, session) => all + of(session), 0)
          return (
            <li key={robotId} className={styles.day}>
              <div>
                {robotLink(robotId, sessions[0]?.robot_name ?? '')}
                <small>{shortList.format(new Set(sessions.map(({ operator_name }) => operator_name)))}</small>
              </div>
              <Band
                label={t('home.owner.band', {
                  times: shortList.format(
                    parts.map(
                      ({ state, fromMs }) => `${robotStateTexts[state]} ${timeOfDay(new Date(fromMs))}`,
                    ),
                  ),
                })}
                fromMs={fromMs}
                toMs={fromMs + DAY_MS}
                nowMs={nowMs}
                parts={parts}
              />
              <Text span inherit ta="end">
                {duration(sum((session) => session.driven_seconds) / 60)}
              </Text>
              <Text span inherit ta="end">
                {money(sum((session) => session.cost_cents))}
              </Text>
            </li>
          )
        })}
      </Lines>
      <Group gap="6px 18px" px={18} py={10} fz="sm" c="dimmed" style={{ borderTop: '1px solid var(--line)' }}>
        {(['DRIVING', 'PAUSED', 'STOPPED'] as const).map((state) => (
          <BandKey key={state} state={state}>
            {robotStateTexts[state]}
          </BandKey>
        ))}
      </Group>
    </Panel>
  )
}

const DAY_MS = 86_400_000
/** Robots with a line of their own. The list of sessions has all. */
const DAYS_SHOWN = 12

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

/** One thing that needs the user's attention. */
export interface AttentionItem {
  readonly id: string
  /** One word. */
  readonly label: string
  readonly shape: ShapeName
  /** Its robot, invoice or queue, usually as a link. */
  readonly subject: ReactNode
  /** Why, as a sentence or a phrase. */
  readonly detail?: ReactNode
  /** How long already. */
  readonly since?: ReactNode
  readonly action?: ReactNode
}

/** Items that are shown at once. Their pages list all. */
const ITEMS_SHOWN = 20

/** Lists what needs the user's attention, most urgent first. */
export const Attention = (props: { title: string; none: string; items: readonly AttentionItem[] }) => (
  <Panel title={props.title}>
    {props.items.length === 0 ? (
      <p className={styles.none}>
        <Shape name="live" /> {props.none}
      </p>
    ) : (
      <Lines className={styles.attention}>
        {props.items.slice(0, ITEMS_SHOWN).map(({ id, label, shape, subject, detail, since, action }) => (
          <li key={id}>
            <StateSign tone={shape === 'live' ? 'off' : tones[shape]}>
              <Shape name={shape} />
            </StateSign>
            <Box style={{ overflowWrap: 'anywhere' }}>
              <div>
                {subject} <StateWord tone={shape === 'live' ? 'off' : tones[shape]}>{label}</StateWord>
              </div>
              {detail !== undefined && <Text c="dimmed">{detail}</Text>}
            </Box>
            {since !== undefined && <Text c="dimmed">{since}</Text>}
            {action}
          </li>
        ))}
      </Lines>
    )}
  </Panel>
)
