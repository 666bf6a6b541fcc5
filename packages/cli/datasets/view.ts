import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import type { Column } from '../table.ts'
import { formatBytes, formatTime, statusPiece } from '../views.ts'

type DatasetExport = Schemas['DatasetExport']

const percent = ({ progress }: DatasetExport) => `${Math.floor(progress * 100)} %`

export const exportColumns: readonly Column<DatasetExport>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'VERSION', value: ({ version }) => version, right: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'DONE', value: percent, right: true },
  { title: 'EPISODES', value: ({ episodes }) => episodes, right: true },
  { title: 'FRAMES', value: ({ frames }) => frames, right: true },
  { title: 'SIZE', value: ({ size_bytes }) => formatBytes(size_bytes), right: true },
  { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
]

const leftOutText = ({ left_out: { count, episodes } }: DatasetExport): string | undefined => {
  if (count === 0) return undefined
  const named = episodes.map(({ episode_id, reason }) => `${episode_id} (${reason})`).join(', ')
  return `${count}: ${named}${count > episodes.length ? ', …' : ''}`
}

export function showExport(out: Output, server: string, each: DatasetExport): void {
  const isReady = each.status === 'READY'
  out.record([
    ['Id', each.id],
    ['Name', each.name],
    ['Version', each.version],
    ['Format', each.format],
    ['Status', statusPiece(each.status)],
    ['Error', each.error ?? undefined],
    ['Done', percent(each)],
    ['Episodes', each.episodes],
    ['Left out', leftOutText(each)],
    ['Frames', each.frames],
    ['Size', formatBytes(each.size_bytes)],
    ['Created', formatTime(each.created_at)],
    ['Finished', formatTime(each.finished_at)],
    ['Files', isReady ? `${server}${each.base_url}/` : undefined],
  ])
}
