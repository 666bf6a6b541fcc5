import { reasonText } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import type { Column } from '../table.ts'
import { styled } from '../text.ts'
import { formatMoney, formatTime, statusPiece } from '../views.ts'

type Session = Schemas['Session']

const centsOf = (session: Session) =>
  'operator_earnings_cents' in session ? session.operator_earnings_cents : session.client_charge_cents

export const sessionColumns: readonly Column<Session>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'ROBOT', value: ({ robot_name }) => robot_name },
  { title: 'OPERATOR', value: ({ operator_name }) => operator_name },
  { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
  { title: 'MINUTES', value: ({ duration_minutes }) => duration_minutes, right: true },
  { title: 'EUR', value: (session) => formatMoney(centsOf(session), '')?.trim(), right: true },
  { title: 'RATED', value: ({ rating }) => rating, right: true },
]

const requesters = { client: 'the owner', operator: 'the operator', admin: 'an admin' } as const
const clearers = { owner: 'the owner or an admin', anyone: 'the owner, an admin or the operator' } as const
const pendingUntil = (session: Schemas['SessionDetail']) =>
  'earnings_pending_until' in session ? formatTime(session.earnings_pending_until) : undefined

export function showSession(out: Output, session: Schemas['SessionDetail']): void {
  const { control, latency } = session
  const charged = 'operator_earnings_cents' in session ? 'Earned' : 'Charged'
  out.record([
    ['Id', session.id],
    ['Status', statusPiece(session.status)],
    [
      'Stop',
      control.stop
        ? styled('red', `${reasonText(control.stop.reason)}, since ${formatTime(control.stop.at)}`)
        : undefined,
    ],
    ['Stopped by', control.stop?.by_role ? requesters[control.stop.by_role] : undefined],
    ['Cleared by', control.stop ? clearers[control.stop.clearable_by] : undefined],
    [
      'Clearing',
      control.stop?.clear_requested_at
        ? `requested ${formatTime(control.stop.clear_requested_at)}`
        : undefined,
    ],
    ['Robot', `${session.robot_name} (${session.robot_type})`],
    ['Robot id', session.robot_id],
    ['Robot connection', isOpen(session) ? robotConnection(session) : undefined],
    ['Operator', session.operator_name],
    ['Operator connection', isOpen(session) ? operatorConnection(session) : undefined],
    ['Planned for', formatTime(session.scheduled_for)],
    ['Started', formatTime(session.started_at)],
    ['Ended', formatTime(session.ended_at)],
    ['Why paused', reasonText(session.pause_reason) || undefined],
    ['Why ended', reasonText(session.end_reason) || undefined],
    ['Minutes', session.duration_minutes ?? undefined],
    ['Planned minutes', session.planned_minutes ?? undefined],
    ['Planned end', formatTime(session.planned_end)],
    ['Paused', session.paused_seconds > 0 ? `${session.paused_seconds} s` : undefined],
    [
      'Robot offline',
      session.robot_offline_seconds > 0 ? `${session.robot_offline_seconds} s, not billed` : undefined,
    ],
    [charged, formatMoney(centsOf(session))],
    ['Pending until', pendingUntil(session)],
    ['Rated', session.rating ?? undefined],
    ['Comment', session.rating_comment ?? undefined],
    [
      'Latency',
      latency?.p50_ms != null ? `${latency.p50_ms} ms, 95%: ${latency.p95_ms ?? '-'} ms` : undefined,
    ],
    ['Picture age', latency?.video ? pictureText(latency.video) : undefined],
    ['Speed limit', latency?.speed ? speedText(latency.speed) : undefined],
  ])
}

const percent = (scale: number) => `${Math.round(scale * 100)} %`

function speedText({
  min_scale,
  mean_scale,
  limited_seconds,
  picture_limited_seconds,
}: NonNullable<NonNullable<Schemas['SessionDetail']['latency']>['speed']>): string {
  if (limited_seconds === 0) return 'none'
  const scales =
    min_scale === null || mean_scale === null
      ? 'latency unknown'
      : `lowest ${percent(min_scale)}, mean ${percent(mean_scale)}`
  const cause =
    picture_limited_seconds === 0 ? 'by latency' : `(${picture_limited_seconds} s by the age of the picture)`
  return `${limited_seconds} s ${cause}, ${scales}`
}

const isOpen = ({ status }: Schemas['SessionDetail']) => status === 'ACTIVE' || status === 'PAUSED'

const robotConnection = ({ control }: Schemas['SessionDetail']) =>
  control.connected ? styled('green', 'connected') : styled('red', 'not connected')

/** Returns the operator's connection, from the status: the platform pauses an ACTIVE session that loses its operator. */
function operatorConnection({ status, pause_reason, control }: Schemas['SessionDetail']) {
  if (!control.operator_joined) return 'not connected yet'
  if (status === 'ACTIVE') return styled('green', 'connected')
  return pause_reason === 'operator_lost' ? styled('red', 'lost') : 'not known while paused'
}

function pictureText(video: NonNullable<NonNullable<Schemas['SessionDetail']['latency']>['video']>): string {
  const { p50_ms, p95_ms, dropped } = video
  const ages = p50_ms === null ? 'frozen' : `50%: ${p50_ms} ms, 95%: ${p95_ms ?? '-'} ms`
  return `${ages}; ${dropped} commands dropped because it was too old`
}
