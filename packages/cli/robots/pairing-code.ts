import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'
import { styled } from '../text.ts'

/** Creates a pairing code of a robot, and prints how a computer and a phone use it. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const path = { id: await robotId(cli, idOrName) }
  const created = await answerOf(cli.rest.POST('/api/client/robots/{id}/pairing-code', { params: { path } }))
  const { server, out } = cli
  out.result(created, () => {
    out.line(styled('bold', 'Pairing code, valid once, for ten minutes: '), created.code)
    out.line()
    out.line(styled('bold', 'Start a simulated robot'), ' with Node 22 or newer, and enter the code:')
    out.line('  ', `curl -fsS ${server}/connect/robot.mjs -o robot.mjs && node robot.mjs`)
    out.line(styled('bold', 'Or make a phone the robot'), ' with this address:')
    out.line('  ', `${server}/phone-robot#code=${created.code}`)
  })
}
