import { reasonText } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'
import { formatTime, statusPiece } from '../views.ts'

/** Prints robots by status, open sessions and gateways. */
export async function run(cli: Context): Promise<void> {
  const overview = await answerOf(cli.rest.GET('/api/admin/overview'))
  const { out } = cli
  out.result(overview, () => {
    const { robots, sessions, gateways } = overview
    out.line(
      `Robots: ${robots.AVAILABLE} available, ${robots.IN_SESSION} in session, ${robots.OFFLINE} offline`,
    )
    out.line(`Open sessions: ${sessions.total}`)
    if (sessions.open.length > 0) {
      out.table(sessions.open, [
        { title: 'ID', value: ({ id }) => id, noTruncate: true },
        { title: 'STATUS', value: ({ status }) => statusPiece(status) },
        { title: 'STOP', value: ({ stop }) => (stop ? styled('red', reasonText(stop.reason)) : undefined) },
        { title: 'ROBOT', value: ({ robot_name }) => robot_name },
        { title: 'OPERATOR', value: ({ operator_name }) => operator_name },
        { title: 'CLIENT', value: ({ client_name }) => client_name },
        { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
      ])
    }
    out.line(`Gateways: ${gateways.length}`)
    if (gateways.length > 0) {
      out.table(gateways, [
        { title: 'ADDRESS', value: ({ url }) => url },
        { title: 'ROBOTS', value: (gateway) => gateway.robots, right: true },
        { title: 'SINCE', value: ({ started_at }) => formatTime(started_at) },
        { title: 'STATE', value: ({ draining }) => (draining ? styled('yellow', 'draining') : 'serving') },
      ])
    }
  })
}
