import { gapTexts } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'
import type { Column } from '../table.ts'
import { formatBytes, formatDuration, formatTime, statusPiece } from '../views.ts'

type Recording = Schemas['Recording']

/** Returns the length of a recording; undefined while it lasts. */
const lengthOf = ({ started_at, ended_at }: Recording) =>
  ended_at === null ? undefined : formatDuration(started_at, ended_at)

export const recordingColumns: readonly Column<Recording>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'SESSION', value: ({ session_id }) => session_id, noTruncate: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'ROBOT', value: ({ robot_name }) => robot_name },
  { title: 'MODE', value: ({ mode }) => mode },
  { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
  { title: 'LENGTH', value: lengthOf, right: true },
  { title: 'SIZE', value: ({ size_bytes }) => formatBytes(size_bytes), right: true },
  { title: 'GAPS', value: ({ gaps }) => gaps.length, right: true },
]

/** Returns the text of why a recording is interrupted, or lacks a period. */
const reasonOf = (reason: string): string =>
  reason === 'off' ? 'the owner has turned it off' : ((gapTexts as Record<string, string>)[reason] ?? reason)

export function showRecording(out: Output, recording: Recording): void {
  const { paused_reason, expires_at, gaps, channels } = recording
  out.record([
    ['Id', recording.id],
    ['Status', statusPiece(recording.status)],
    ['Interrupted', paused_reason === null ? undefined : reasonOf(paused_reason)],
    ['Session', recording.session_id],
    ['Robot', recording.robot_name],
    ['Robot id', recording.robot_id],
    ['Mode', recording.mode],
    ['Started', formatTime(recording.started_at)],
    ['Ended', formatTime(recording.ended_at)],
    ['Length', lengthOf(recording)],
    ['Size', formatBytes(recording.size_bytes)],
    ['Deleted at', expires_at === null ? 'never' : formatTime(expires_at)],
    ['Gaps', gaps.length === 0 ? 'none' : gaps.length],
  ])
  if (channels.length > 0) {
    out.line()
    out.table(channels, [
      { title: 'TOPIC', value: ({ topic }) => topic },
      { title: 'SCHEMA', value: ({ schema }) => schema },
      { title: 'MESSAGES', value: ({ messages }) => messages, right: true },
    ])
  }
  if (gaps.length > 0) {
    out.line()
    out.table(gaps, [
      { title: 'GAP FROM', value: ({ from }) => from },
      { title: 'LENGTH', value: ({ from, to }) => formatDuration(from, to), right: true },
      { title: 'REASON', value: ({ reason }) => reasonOf(reason) },
    ])
  }
}
