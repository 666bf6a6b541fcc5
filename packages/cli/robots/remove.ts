import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'

/** Removes a robot. The platform refuses while the robot is in an open session. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const path = { id: await robotId(cli, idOrName) }
  const robot = await answerOf(cli.rest.GET('/api/client/robots/{id}', { params: { path } }))
  await cli.prompts.confirm(`Remove ${robot.name} (${robot.id})? That cannot be undone.`)
  await answerOf(cli.rest.DELETE('/api/client/robots/{id}', { params: { path } }))
  cli.out.result({ id: robot.id, removed: true }, () => cli.out.line(`${robot.name} is removed.`))
}
