import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import type { Column } from '../table.ts'
import { painted } from '../text.ts'
import { money, statusPiece, when } from '../views.ts'

type Session = Schemas['Session']

const centsOf = (session: Session) =>
  'operator_earnings_cents' in session ? session.operator_earnings_cents : session.client_charge_cents

export const sessionColumns: readonly Column<Session>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), whole: true },
  { title: 'ROBOT', value: ({ robot_name }) => robot_name },
  { title: 'OPERATOR', value: ({ operator_name }) => operator_name },
  { title: 'STARTED', value: ({ started_at }) => when(started_at) },
  { title: 'MINUTES', value: ({ duration_minutes }) => duration_minutes, right: true },
  { title: 'EUR', value: (session) => money(centsOf(session), '')?.trim(), right: true },
  { title: 'RATED', value: ({ rating }) => rating, right: true },
]

const requesters = { client: 'the owner', operator: 'the operator', admin: 'an admin' } as const
const clearers = { owner: 'the owner or an admin', anyone: 'the owner, an admin or the operator' } as const

export function showSession(out: Output, session: Schemas['SessionDetail']): void {
  const { control, latency } = session
  const charged = 'operator_earnings_cents' in session ? 'Earned' : 'Charged'
  out.record([
    ['Id', session.id],
    ['Status', statusPiece(session.status)],
    [
      'Stop',
      control.stop ? painted('red', `${control.stop.reason}, since ${when(control.stop.at)}`) : undefined,
    ],
    ['Stopped by', control.stop?.by_role ? requesters[control.stop.by_role] : undefined],
    ['Cleared by', control.stop ? clearers[control.stop.clearable_by] : undefined],
    [
      'Clearing',
      control.stop?.clear_requested_at ? `asked for ${when(control.stop.clear_requested_at)}` : undefined,
    ],
    ['Robot', `${session.robot_name} (${session.robot_type})`],
    ['Robot id', session.robot_id],
    ['Operator', session.operator_name],
    ['Planned for', when(session.scheduled_for)],
    ['Started', when(session.started_at)],
    ['Ended', when(session.ended_at)],
    ['Why paused', session.pause_reason ?? undefined],
    ['Why ended', session.end_reason ?? undefined],
    ['Minutes', session.duration_minutes ?? undefined],
    ['Planned minutes', session.planned_minutes ?? undefined],
    ['Paused', session.paused_seconds > 0 ? `${session.paused_seconds} s` : undefined],
    [charged, money(centsOf(session))],
    ['Rated', session.rating ?? undefined],
    ['Comment', session.rating_comment ?? undefined],
    ['Driven', control.connected ? 'the operator is connected' : undefined],
    [
      'Latency',
      latency?.p50_ms != null ? `${latency.p50_ms} ms, 95%: ${latency.p95_ms ?? '-'} ms` : undefined,
    ],
  ])
}
