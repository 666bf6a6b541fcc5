import { Table, Text } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { clockText, duration, money, shortList } from '../base/format.ts'
import { Section } from '../base/section.tsx'
import { Note } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { reasonText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { type SessionDetail, useSessionRoles } from './session-query.ts'

export function Summary({ session }: { session: SessionDetail }) {
  const { client, operator } = useSessionRoles(session)
  return (
    <Section title={t('session.summary.title')}>
      <Table aria-label={t('session.summary.label')} variant="vertical" layout="fixed">
        <Table.Tbody>
          {linesOf(session).map(
            ([label, value]) =>
              value && (
                <Table.Tr key={label}>
                  <Table.Th scope="row" w={160}>
                    {label}
                  </Table.Th>
                  <Table.Td>{value}</Table.Td>
                </Table.Tr>
              ),
          )}
        </Table.Tbody>
      </Table>
      {session.rating_comment && (
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {session.rating_comment}
        </Text>
      )}
      {session.status === 'COMPLETED' && client && operator && !session.own_operator && (
        <Note>{t('session.summary.ownRobot')}</Note>
      )}
    </Section>
  )
}

const oneDigit = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** Returns the lines of the summary. Those without a value are not shown. */
function linesOf(session: SessionDetail): readonly (readonly [label: string, value: ReactNode])[] {
  const { started_at, ended_at, duration_minutes, client_charge_cents, paused_seconds } = session
  return [
    [t('session.summary.started'), started_at && <Time at={started_at} exact />],
    [t('session.summary.ended'), ended_at && <Time at={ended_at} exact />],
    [t('session.summary.reason'), reasonText(session.end_reason)],
    [t('session.summary.duration'), duration_minutes !== null && duration(duration_minutes)],
    [t('session.summary.paused'), started_at && clockText(paused_seconds)],
    [t('session.summary.robotOffline'), outage(session)],
    [
      t('session.summary.charge'),
      session.own_operator
        ? t('session.summary.ownOperator')
        : client_charge_cents !== null && charge(session, client_charge_cents),
    ],
    'operator_earnings_cents' in session
      ? [t('session.summary.earnings'), earnings(session)]
      : [
          t('session.summary.episodes'),
          t('session.summary.episodesSize', {
            episodes: session.episodes_collected,
            megabytes: oneDigit.format(session.data_collected_mb),
          }),
        ],
    [t('session.summary.commands'), commands(session)],
    [t('session.summary.picture'), pictureAge(session)],
    [t('session.summary.speed'), speedLimit(session)],
  ]
}

function charge({ billable_seconds, rate_cents_per_minute }: SessionDetail, cents: number): string {
  const minutes = Math.ceil(billable_seconds / 60)
  const amount = money(cents)
  if (rate_cents_per_minute === null) return amount
  return t('session.summary.chargeAt', { amount, minutes, rate: money(rate_cents_per_minute) })
}

function outage(session: SessionDetail): string {
  if (session.robot_offline_seconds === 0) return ''
  const time = clockText(session.robot_offline_seconds)
  return 'operator_earnings_cents' in session
    ? t('session.summary.notChargedOrPaid', { time })
    : t('session.summary.notCharged', { time })
}

function earnings(session: Schemas['OperatorSessionDetail']): ReactNode {
  const { operator_earnings_cents: cents, earnings_pending_until: until } = session
  if (cents === null) return null
  const amount = money(cents)
  return until === null
    ? amount
    : textParts('session.summary.pending', { amount, time: <Time at={until} exact /> })
}

function speedLimit({ latency: stats }: SessionDetail): string {
  if (!stats?.speed) return ''
  const { min_scale, mean_scale, limited_seconds, picture_limited_seconds } = stats.speed
  if (limited_seconds === 0) return t('session.summary.neverLimited')
  const time = clockText(limited_seconds)
  if (min_scale === null || mean_scale === null) return t('session.summary.limitedUnknown', { time })
  const scales = { time, lowest: percent(min_scale), mean: percent(mean_scale) }
  const picture = clockText(picture_limited_seconds)
  if (picture_limited_seconds === 0) return t('session.summary.limited', scales)
  if (picture_limited_seconds >= limited_seconds) return t('session.summary.limitedByPicture', scales)
  return t('session.summary.limitedByBoth', { ...scales, picture })
}

function commands({ latency: stats }: SessionDetail): string {
  if (!stats) return ''
  const { p50_ms, p95_ms, max_ms, frames, dropped, video } = stats
  // The gateway holds commands that were given by an old picture: nothing was lost.
  const held = video?.dropped ?? 0
  const latencies =
    p50_ms === null ? '' : t('session.summary.latencies', { p50: p50_ms, p95: p95_ms, max: max_ms })
  const counts = t('session.summary.delivered', { frames, held, dropped: dropped - held })
  return shortList.format([counts, latencies].filter(Boolean))
}

/** Returns how old the picture was by which the operator drove. */
function pictureAge({ latency: stats }: SessionDetail): string {
  if (!stats?.video) return ''
  const { p50_ms, p95_ms, max_ms, dropped } = stats.video
  const ages = p50_ms === null ? '' : t('session.summary.ages', { p50: p50_ms, p95: p95_ms, max: max_ms })
  const held = dropped === 0 ? '' : t('session.summary.held', { commands: dropped })
  return shortList.format([ages, held].filter(Boolean))
}
