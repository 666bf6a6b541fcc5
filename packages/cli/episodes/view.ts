import type { Schemas } from '@wheelhouse/sdk'
import type { Column } from '../table.ts'
import { type Piece, styled } from '../text.ts'
import { formatDuration, formatTime } from '../views.ts'

type Episode = Schemas['Episode']

export const episodeColumns: readonly Column<Episode>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
  { title: 'LENGTH', value: ({ started_at, ended_at }) => formatDuration(started_at, ended_at), right: true },
  { title: 'RESULT', value: resultOf },
  { title: 'TASK', value: ({ task }) => task },
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'MB', value: ({ size_mb }) => size_mb.toFixed(1), right: true },
  { title: 'NOT EXPORTED', value: ({ not_exportable }) => not_exportable },
  { title: 'RECORDING', value: ({ recording_id }) => recording_id, noTruncate: true },
]

function resultOf({ success }: Episode): Piece | undefined {
  if (success === null) return undefined
  return success ? styled('green', 'success') : styled('red', 'failure')
}
