import { Table, Text } from '@mantine/core'
import { reasonText } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { clockText, duration, money } from '../ui/format.ts'
import { percent } from '../ui/percent.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { RatingForm, RatingShown } from './rating-form.tsx'
import type { SessionDetail } from './session-query.ts'
import { useSessionRoles } from './session-roles.ts'

type Line = readonly [string, ReactNode]

/** Summarizes a finished session. */
export function Summary({ session }: { session: SessionDetail }) {
  const { client, operator } = useSessionRoles(session)
  const completed = session.status === 'COMPLETED'
  return (
    <Section title="Summary">
      <Table aria-label="Summary" variant="vertical" layout="fixed">
        <Table.Tbody>
          {linesOf(session).map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" w={160}>
                {label}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <RatingShown session={session} />
      {completed && client && operator && <OwnRobotNote />}
      {completed && client && !operator && session.rating === null && <RatingForm session={session} />}
    </Section>
  )
}

const OwnRobotNote = () => (
  <Text size="sm" c="dimmed">
    You drove your own robot. The session is charged, but not paid out, and cannot be rated.
  </Text>
)

function linesOf(session: SessionDetail): Line[] {
  const { started_at, ended_at, duration_minutes, client_charge_cents, end_reason, paused_seconds } = session
  const reason = reasonText(end_reason)
  return [
    ...(started_at ? [['Started', <Time key="started" at={started_at} exact />] as const] : []),
    ...(ended_at ? [['Ended', <Time key="ended" at={ended_at} exact />] as const] : []),
    ...(reason ? [['Reason', reason] as const] : []),
    ...(duration_minutes === null ? [] : [['Duration', duration(duration_minutes)] as const]),
    ...(started_at ? [['Paused', clockText(paused_seconds)] as const] : []),
    ...outage(session),
    ...(client_charge_cents === null ? [] : [['Charge', charge(session, client_charge_cents)] as const]),
    ...resultLines(session),
    ...latency(session),
    ...pictureAge(session),
    ...speedLimit(session),
  ]
}

function charge({ billable_seconds, rate_cents_per_minute }: SessionDetail, cents: number): string {
  const minutes = Math.ceil(billable_seconds / 60)
  const rate = rate_cents_per_minute === null ? '' : `: ${minutes} min at ${money(rate_cents_per_minute)}`
  return `${money(cents)}${rate}`
}

/** Returns the time in which the robot was offline while the session was ACTIVE. */
function outage(session: SessionDetail): Line[] {
  if (session.outage_seconds === 0) return []
  const effect = 'operator_earnings_cents' in session ? 'neither charged nor paid' : 'not charged'
  return [['Robot offline', `${clockText(session.outage_seconds)}, ${effect}`]]
}

/** Returns the operator's earnings or the owner's recordings. */
function resultLines(session: SessionDetail): Line[] {
  if ('operator_earnings_cents' in session) {
    const { operator_earnings_cents: cents, earnings_pending_until: until } = session
    if (cents === null) return []
    const amount = money(cents)
    return [
      ['Your earnings', until === null ? amount : <Pending key="earnings" amount={amount} until={until} />],
    ]
  }
  const { episodes_collected: episodes, data_collected_mb: mb } = session
  return [['Episodes', `${episodes} (${mb.toFixed(1)} MB)`]]
}

const Pending = ({ amount, until }: { amount: string; until: string }) => (
  <>
    {amount}, pending until the owner pays the invoice, <Time at={until} exact /> at the latest
  </>
)

function speedLimit({ latency: stats }: SessionDetail): Line[] {
  if (!stats?.speed) return []
  const { min_scale, mean_scale, limited_seconds } = stats.speed
  if (limited_seconds === 0) return [['Speed', 'never limited by latency']]
  const scales =
    min_scale === null || mean_scale === null
      ? 'latency unknown'
      : `lowest ${percent(min_scale)}, mean ${percent(mean_scale)}`
  return [['Speed', `limited by latency for ${clockText(limited_seconds)}: ${scales}`]]
}

function latency({ latency: stats }: SessionDetail): Line[] {
  if (!stats) return []
  const { p50_ms, p95_ms, max_ms, frames, dropped } = stats
  const latencyText = p50_ms === null ? '' : `latency p50 ${p50_ms} ms, p95 ${p95_ms} ms, max ${max_ms} ms`
  const count = `${frames} delivered, ${dropped} lost`
  return [['Commands', [count, latencyText].filter(Boolean).join(', ')]]
}

/** Shows how old the picture was by which the operator drove. */
function pictureAge({ latency: stats }: SessionDetail): Line[] {
  if (!stats?.video) return []
  const { p50_ms, p95_ms, max_ms, dropped } = stats.video
  const ages = p50_ms === null ? '' : `age p50 ${p50_ms} ms, p95 ${p95_ms} ms, max ${max_ms} ms`
  const held = dropped === 0 ? '' : `${dropped} commands held because it was frozen`
  return [['Picture', [ages, held].filter(Boolean).join(', ')]]
}
