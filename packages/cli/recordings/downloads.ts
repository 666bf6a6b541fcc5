import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'
import { findRecording } from './recording-lookup.ts'

const kindTexts = {
  file: 'file',
  replay: 'replay',
  export: 'export of a dataset',
  foxglove: 'Foxglove',
} as const

/** Prints who has read a recording. */
export async function run(cli: Context, idOrPrefix: string): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const { downloads } = await answerOf(
    cli.rest.GET('/api/recordings/{id}/downloads', { params: { path: { id } } }),
  )
  cli.out.list(
    downloads,
    [
      { title: 'WHEN', value: ({ at }) => formatTime(at) },
      { title: 'HOW', value: ({ kind }) => kindTexts[kind] },
      { title: 'WHO', value: ({ user_name, share_id }) => (share_id === null ? user_name : 'with a link') },
      { title: 'USER', value: ({ user_id }) => user_id, noTruncate: true },
      { title: 'LINK', value: ({ share_id }) => share_id, noTruncate: true },
    ],
    'No user has read it yet.',
  )
}
