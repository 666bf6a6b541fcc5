import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { sessionId } from '../ids.ts'
import { logLine } from '../views.ts'

const PAGE = 200

/** Prints the log of a session. */
export async function run(cli: Context, idOrPrefix: string, options: { after: number }): Promise<void> {
  const id = await sessionId(cli, idOrPrefix)
  for (let after = options.after; ; ) {
    const params = { path: { id }, query: { after, limit: PAGE } }
    const { events } = await answerOf(cli.rest.GET('/api/sessions/{id}/events', { params }))
    for (const event of events) {
      if (cli.out.json) cli.out.entry(event)
      else cli.out.line(...logLine(event))
      after = event.seq
    }
    if (events.length < PAGE) return
  }
}
