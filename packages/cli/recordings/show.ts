import type { Context } from '../context.ts'
import { findRecording } from './recording-lookup.ts'
import { showRecording } from './view.ts'

/** Prints one recording with its topics and gaps. */
export async function run(cli: Context, idOrPrefix: string): Promise<void> {
  const recording = await findRecording(cli, idOrPrefix)
  cli.out.result(recording, () => showRecording(cli.out, recording))
}
