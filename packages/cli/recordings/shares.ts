import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'
import { findRecording } from './recording-lookup.ts'

/** Prints the links of a recording. */
export async function run(cli: Context, idOrPrefix: string): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const { shares } = await answerOf(cli.rest.GET('/api/recordings/{id}/shares', { params: { path: { id } } }))
  cli.out.list(
    shares,
    [
      { title: 'ID', value: (share) => share.id, noTruncate: true },
      { title: 'STATE', value: stateOf },
      { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
      { title: 'EXPIRES', value: ({ expires_at }) => formatTime(expires_at) },
    ],
    'No links. Create one with: wheelhouse recordings share',
  )
}

function stateOf({ revoked_at, expires_at }: Schemas['RecordingShare']): string {
  if (revoked_at !== null) return 'revoked'
  return Date.parse(expires_at) > Date.now() ? 'valid' : 'expired'
}
