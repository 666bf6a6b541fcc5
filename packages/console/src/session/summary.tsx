import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { clockText, duration, money, shortList } from '../base/format.ts'
import { Section } from '../base/section.tsx'
import { Time } from '../base/time.tsx'
import { reasonText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { type SessionDetail, useSessionRoles } from './session-query.ts'

type Line = readonly [string, ReactNode]

export function Summary({ session }: { session: SessionDetail }) {
  const { client, operator } = useSessionRoles(session)
  return (
    <Section title={t('session.summary.title')}>
      <Table aria-label={t('session.summary.label')} variant="vertical" layout="fixed">
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
      {session.rating_comment && (
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {session.rating_comment}
        </Text>
      )}
      {session.status === 'COMPLETED' && client && operator && <OwnRobotNote />}
    </Section>
  )
}

const OwnRobotNote = () => (
  <Text size="sm" c="dimmed">
    {t('session.summary.ownRobot')}
  </Text>
)

function linesOf(session: SessionDetail): Line[] {
  const { started_at, ended_at, duration_minutes, client_charge_cents, end_reason, paused_seconds } = session
  const reason = reasonText(end_reason)
  return [
    ...(started_at
      ? [[t('session.summary.started'), <Time key="started" at={started_at} exact />] as const]
      : []),
    ...(ended_at ? [[t('session.summary.ended'), <Time key="ended" at={ended_at} exact />] as const] : []),
    ...(reason ? [[t('session.summary.reason'), reason] as const] : []),
    ...(duration_minutes === null
      ? []
      : [[t('session.summary.duration'), duration(duration_minutes)] as const]),
    ...(started_at ? [[t('session.summary.paused'), clockText(paused_seconds)] as const] : []),
    ...outage(session),
    ...(client_charge_cents === null
      ? []
      : [[t('session.summary.charge'), charge(session, client_charge_cents)] as const]),
    ...resultLines(session),
    ...latency(session),
    ...pictureAge(session),
    ...speedLimit(session),
  ]
}

function charge({ billable_seconds, rate_cents_per_minute }: SessionDetail, cents: number): string {
  const minutes = Math.ceil(billable_seconds / 60)
  const amount = money(cents)
  if (rate_cents_per_minute === null) return amount
  return t('session.summary.chargeAt', { amount, minutes, rate: money(rate_cents_per_minute) })
}

function outage(session: SessionDetail): Line[] {
  if (session.robot_offline_seconds === 0) return []
  const time = clockText(session.robot_offline_seconds)
  const text =
    'operator_earnings_cents' in session
      ? t('session.summary.notChargedOrPaid', { time })
      : t('session.summary.notCharged', { time })
  return [[t('session.summary.robotOffline'), text]]
}

function resultLines(session: SessionDetail): Line[] {
  if ('operator_earnings_cents' in session) {
    const { operator_earnings_cents: cents, earnings_pending_until: until } = session
    if (cents === null) return []
    const amount = money(cents)
    const text = until === null ? amount : pendingText(amount, until)
    return [[t('session.summary.earnings'), text]]
  }
  const { episodes_collected: episodes, data_collected_mb: mb } = session
  return [
    [
      t('session.summary.episodes'),
      t('session.summary.episodesSize', { episodes, megabytes: oneDigit.format(mb) }),
    ],
  ]
}

const oneDigit = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

const pendingText = (amount: string, until: string) =>
  textParts('session.summary.pending', { amount, time: <Time at={until} exact /> })

function speedLimit({ latency: stats }: SessionDetail): Line[] {
  if (!stats?.speed) return []
  const { min_scale, mean_scale, limited_seconds, picture_limited_seconds } = stats.speed
  const label = t('session.summary.speed')
  if (limited_seconds === 0) return [[label, t('session.summary.neverLimited')]]
  const time = clockText(limited_seconds)
  if (min_scale === null || mean_scale === null)
    return [[label, t('session.summary.limitedUnknown', { time })]]
  const scales = { time, lowest: percent(min_scale), mean: percent(mean_scale) }
  const picture = clockText(picture_limited_seconds)
  if (picture_limited_seconds === 0) return [[label, t('session.summary.limited', scales)]]
  if (picture_limited_seconds >= limited_seconds)
    return [[label, t('session.summary.limitedByPicture', scales)]]
  return [[label, t('session.summary.limitedByBoth', { ...scales, picture })]]
}

function latency({ latency: stats }: SessionDetail): Line[] {
  if (!stats) return []
  const { p50_ms, p95_ms, max_ms, frames, dropped, video } = stats
  // The gateway holds commands that were given by an old picture: nothing was lost.
  const held = video?.dropped ?? 0
  const latencies =
    p50_ms === null ? '' : t('session.summary.latencies', { p50: p50_ms, p95: p95_ms, max: max_ms })
  const counts = t('session.summary.delivered', { frames, held, dropped: dropped - held })
  return [[t('session.summary.commands'), shortList.format([counts, latencies].filter(Boolean))]]
}

function pictureAge({ latency: stats }: SessionDetail): Line[] {
  if (!stats?.video) return []
  const { p50_ms, p95_ms, max_ms, dropped } = stats.video
  const ages = p50_ms === null ? '' : t('session.summary.ages', { p50: p50_ms, p95: p95_ms, max: max_ms })
  const held = dropped === 0 ? '' : t('session.summary.held', { commands: dropped })
  return [[t('session.summary.picture'), shortList.format([ages, held].filter(Boolean))]]
}
