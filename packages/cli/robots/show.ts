import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'
import { showRobot } from './view.ts'

/** Prints one robot with its settings. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const id = await robotId(cli, idOrName)
  const robot = await answerOf(cli.rest.GET('/api/client/robots/{id}', { params: { path: { id } } }))
  cli.out.result(robot, () => showRobot(cli.out, robot))
}
