import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'
import { findRecording } from './recording-lookup.ts'

/** Deletes a recording. */
export async function run(cli: Context, idOrPrefix: string): Promise<void> {
  const { id, robot_name, started_at } = await findRecording(cli, idOrPrefix)
  await cli.prompts.confirm(
    `Delete the recording of ${robot_name} from ${formatTime(started_at)} (${id})? That cannot be undone.`,
  )
  await answerOf(cli.rest.DELETE('/api/recordings/{id}', { params: { path: { id } } }))
  cli.out.result({ id, deleted: true }, () => cli.out.line(`The recording ${id} is deleted.`))
}
