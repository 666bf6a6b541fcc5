import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'
import { showConnection } from './view.ts'

/** Replaces the token of a robot. The platform drops the connection with the old token. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const path = { id: await robotId(cli, idOrName) }
  const robot = await answerOf(cli.rest.GET('/api/client/robots/{id}', { params: { path } }))
  await cli.prompts.confirm(
    `Replace the token of ${robot.name}? The robot stays disconnected until it uses the new token.`,
  )
  const rotated = await answerOf(cli.rest.POST('/api/client/robots/{id}/token', { params: { path } }))
  cli.out.result(rotated, () => showConnection(cli.out, { ...robot, ...rotated }))
}
