import { reasonText, robotStateTexts } from '@wheelhouse/protocol'
import type { LiveRobot } from '../live/use-live-robots.ts'
import { timeOfDay } from '../ui/format.ts'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Attention, type AttentionItem } from './attention.tsx'
import type { ClientOverview } from './client-overview.ts'

/** Lists stopped, lost and paused robots, robots on hold, and invoices whose payment failed. */
export const OwnerAttention = ({ overview }: { overview: ClientOverview }) => (
  <Attention
    title="Needs attention"
    none="Nothing needs your attention."
    items={[
      ...overview.live.flatMap(ofRobot),
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
          Open session
        </LinkButton>
      ),
    },
  ]
}

function detailOf({ stop, pause_reason, operator_name, ends_at }: NonNullable<LiveRobot['session']>): string {
  if (ends_at !== null) return `The operator is gone. The session ends at ${timeOfDay(new Date(ends_at))}.`
  const reason = reasonText(stop ? stop.reason : pause_reason)
  if (stop?.by_name) return `Stopped by ${stop.by_name}: ${reason}`
  return reason === '' ? `Operated by ${operator_name}` : `Operated by ${operator_name}: ${reason}`
}

const ofHold = ({ id, name }: ClientOverview['on_hold'][number]): AttentionItem => ({
  id: `hold ${id}`,
  label: 'On hold',
  color: 'orange.9',
  subject: (
    <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600}>
      {name}
    </LinkAnchor>
  ),
  detail: 'No session can start on it.',
})

const ofInvoice = ({ id, month }: ClientOverview['failed_invoices'][number]): AttentionItem => ({
  id,
  label: 'Unpaid',
  color: 'red.9',
  subject: (
    <LinkAnchor to="/invoices/$invoiceId" params={{ invoiceId: id }} fw={600}>
      Invoice of {monthText(month)}
    </LinkAnchor>
  ),
  detail: 'The payment failed.',
})

/** Returns a month such as `2026-10` in the viewer's language. */
const monthText = (month: string) =>
  new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
