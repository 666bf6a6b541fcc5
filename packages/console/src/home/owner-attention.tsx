import type { LiveRobot } from '../live/live-robots.tsx'
import { reasonText, robotStateTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { timeOfDay } from '../ui/format.ts'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Time } from '../ui/time.tsx'
import { Attention, type AttentionItem } from './attention.tsx'
import type { ClientOverview } from './client-overview.ts'

/** Lists stopped, lost and paused robots, those that went offline, low batteries, robots on hold, and invoices whose payment failed. */
export const OwnerAttention = ({ overview }: { overview: ClientOverview }) => (
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
      color: state === 'PAUSED' ? 'orange.9' : 'red.9',
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
  const names = nameList.format(robots.map(({ name }) => name))
  return [
    {
      id: 'offline',
      label: robotStateTexts.OFFLINE,
      color: 'red.9',
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

const nameList = new Intl.ListFormat(language, { type: 'unit', style: 'short' })

const ofBattery = ({ id, name, battery }: ClientOverview['low_batteries'][number]): AttentionItem => ({
  id: `battery ${id}`,
  label: t('home.attention.lowBattery'),
  color: 'orange.9',
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
  color: 'orange.9',
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
  color: 'red.9',
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
