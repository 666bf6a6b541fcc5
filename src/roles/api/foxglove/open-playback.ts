import pTimeout from 'p-timeout'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'
import { readMcapFile } from '../../../modules/recordings/mcap/index.ts'
import { Playback } from './playback.ts'
import { RecordedChannels } from './recorded-channels.ts'
import type { SessionRecording } from './session-source.ts'
import { NS_PER_MS, type TimeRange } from './wire.ts'

const OPEN_LIMIT_MS = 20_000

/** Stored recordings, and the list of the users who have read them. */
export interface RecordingStore {
  readonly store: Pick<ObjectStore, 'readBytes'>
  /** Records that a user reads a recording. */
  noteDownload(recordingId: string, userId: string, kind: 'foxglove'): Promise<void>
}

type Recording = SessionRecording & { readonly fileKey: string }

/**
 * Opens a recording for a user.
 * @throws ObjectMissingError for a recording that was deleted
 */
export async function openPlayback(
  deps: { readonly recordings: RecordingStore; readonly guard: Guard; readonly log: Log },
  opened: { readonly recording: Recording; readonly sessionId: string; readonly userId: string },
): Promise<Playback> {
  const { recordings, guard, log } = deps
  const { recording, sessionId, userId } = opened
  await recordings.noteDownload(recording.id, userId, 'foxglove')
  const file = { key: recording.fileKey, sizeBytes: recording.sizeBytes }
  const reader = await pTimeout(readMcapFile(recordings.store, file), { milliseconds: OPEN_LIMIT_MS })
  const recorded = new RecordedChannels(reader)
  return new Playback({ recorded, range: rangeOf(reader.statistics, recording), sessionId, guard, log })
}

/** Returns the period of a recording: from its first to its last message, or its own when it is empty. */
function rangeOf(
  statistics: { messageCount: bigint; messageStartTime: bigint; messageEndTime: bigint } | undefined,
  { startedAt, endedAt }: Recording,
): TimeRange {
  if (statistics && statistics.messageCount > 0n)
    return { startNs: statistics.messageStartTime, endNs: statistics.messageEndTime }
  const ns = (at: Date) => BigInt(at.getTime()) * NS_PER_MS
  return { startNs: ns(startedAt), endNs: ns(endedAt ?? startedAt) }
}
