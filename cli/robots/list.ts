import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotColumns } from './view.ts'

/** The caller's robots. */
export async function run(cli: Context, { status }: { status?: string }): Promise<void> {
  const robots = await answerOf(cli.rest.GET('/api/client/robots'))
  const shown = robots.filter((robot) => status === undefined || robot.status === status)
  cli.out.list(shown, robotColumns, 'No robots. Register one with: wheelhouse robots register')
}
