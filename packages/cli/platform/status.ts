import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'

/** Prints the health of the platform and its database. Throws if they do not work, which sets the exit code. */
export async function run(cli: Context): Promise<void> {
  const health = await answerOf(cli.publicRest.GET('/api/health'))
  const stats = await answerOf(cli.publicRest.GET('/api/stats'))
  const { server, out } = cli
  const skewS = Math.round((Date.parse(health.timestamp) - Date.now()) / 1000)
  out.result({ server, ...health, clock_skew_seconds: skewS, stats }, () => {
    out.record([
      ['Platform', server],
      ['Status', styled('green', health.status)],
      ['Robots', `${stats.robots_online} of ${stats.robots_total} online`],
      ['Active sessions', stats.sessions_active],
      ['Completed sessions', stats.sessions_completed],
      ['Hours driven', stats.teleop_hours.toFixed(1)],
    ])
    if (Math.abs(skewS) > CLOCK_TOLERANCE_S) {
      out.note(
        styled('yellow', `This machine's clock is ${Math.abs(skewS)} s ${skewS > 0 ? 'behind' : 'ahead'}.`),
      )
    }
  })
}

/** The latency of the response may cause a difference up to this. */
const CLOCK_TOLERANCE_S = 5
